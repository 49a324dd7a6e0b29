import { readContent } from '../message/codec/message-codec.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showFailure } from '../message/failure.js';
import {
  type CheckedPayload,
  type EncodedPayload,
  nameOfPayload,
  type PayloadCheck,
} from '../message/payload-check.js';

/** Returns the check for a declared payload; undefined if nothing is checked at run time. */
export function checkOf(spec: unknown): PayloadCheck | undefined {
  return isSchema(spec) ? new SchemaCheck(spec['~standard']) : undefined;
}

class SchemaCheck implements PayloadCheck {
  constructor(private readonly schema: CallableSchema['~standard']) {}

  stored(payload: unknown): CheckedPayload | Promise<CheckedPayload> {
    try {
      const result = this.schema.validate(payload);
      return result instanceof Promise ? result.then(readResult).catch(failedCheck) : readResult(result);
    } catch (cause) {
      return failedCheck(cause);
    }
  }

  encoded(payload: EncodedPayload): Promise<void> | undefined {
    const { body, codec } = payload;
    const checked = this.stored(readContent(codec, Buffer.from(body)).payload);
    if (checked instanceof Promise) return checked.then((known) => refuseInvalid(known, payload));
    refuseInvalid(checked, payload);
    return undefined;
  }
}

interface CallableSchema {
  readonly '~standard': { readonly validate: (value: unknown) => unknown };
}

/** True for a Standard Schema, that is, an object or a function with a `validate` function. */
export function isSchema(spec: unknown): spec is CallableSchema {
  if ((typeof spec !== 'object' && typeof spec !== 'function') || spec === null) return false;
  const standard = (spec as Partial<CallableSchema>)['~standard'];
  return typeof standard?.validate === 'function';
}

function refuseInvalid(checked: CheckedPayload, payload: EncodedPayload): void {
  if (!('problem' in checked)) return;
  const problem = `${nameOfPayload(payload)}: ${checked.problem}`;
  throw new DelayQueueError('INVALID_PAYLOAD', problem, { cause: checked.cause });
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

const MAX_PATHS = 10;

/** Names only paths, because the messages of issues quote values, and payloads must not get into logs. */
function describe(issues: readonly Issue[]): string {
  const paths = [...new Set(issues.map(({ path = [] }) => showPath(path)))];
  const named = paths.slice(0, MAX_PATHS).join(', ') + (paths.length > MAX_PATHS ? ', …' : '');
  return `the schema refuses ${named}`;
}

function showPath(path: NonNullable<Issue['path']>): string {
  return ['payload', ...path.map((part) => String(typeof part === 'object' ? part.key : part))].join('.');
}
