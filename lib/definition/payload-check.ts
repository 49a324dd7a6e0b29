import { showFailure } from '../message/failure.js';
import { isSchema } from './payload-spec.js';

/** What a schema makes of a payload; the paths of what is wrong with it; or, with a `cause`, that the schema itself failed. */
export type CheckedPayload = { readonly value: unknown } | { readonly problem: string; readonly cause?: unknown };

/** Checks a payload. Synchronous unless its schema is not: a promise for each message would cost. */
export type PayloadCheck = (payload: unknown) => CheckedPayload | Promise<CheckedPayload>;

/** A stored payload that does not match the schema of its queue. A retry would not change it, so the message is dead at once. */
export class InvalidPayload extends Error {
  override readonly name = 'InvalidPayload';
}

/** The check of a declared payload; none, if there is nothing to check at run time. */
export function checkOf(spec: unknown): PayloadCheck | undefined {
  if (!isSchema(spec)) return undefined;
  const { '~standard': standard } = spec;
  return (payload) => {
    try {
      const result = standard.validate(payload);
      return result instanceof Promise ? result.then(readResult).catch(failedCheck) : readResult(result);
    } catch (cause) {
      return failedCheck(cause);
    }
  };
}

function failedCheck(cause: unknown): CheckedPayload {
  return { problem: `the schema failed (${showFailure(cause)})`, cause: cause ?? new Error('the schema failed') };
}

function readResult(result: unknown): CheckedPayload {
  const { issues, value } = result as { readonly issues?: readonly Issue[]; readonly value?: unknown };
  return issues ? { problem: describe(issues) } : { value };
}

interface Issue {
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** So many places are named. */
const MOST_PATHS = 10;

/** The paths alone: messages of issues quote values, and payloads must not get into logs. */
function describe(issues: readonly Issue[]): string {
  const paths = [...new Set(issues.map(({ path = [] }) => showPath(path)))];
  const named = paths.slice(0, MOST_PATHS).join(', ') + (paths.length > MOST_PATHS ? ', …' : '');
  return `the schema refuses ${named}`;
}

function showPath(path: NonNullable<Issue['path']>): string {
  return ['payload', ...path.map((part) => String(typeof part === 'object' ? part.key : part))].join('.');
}
