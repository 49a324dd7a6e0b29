import { type MessageBody, type MessageCodec, readContent } from './codec/message-codec.js';
import { DelayQueueError } from './delay-queue-errors.js';
import { showFailure } from './failure.js';
import { NO_TYPE } from './message-id.js';

/** The output of a schema, or the paths of the problems. If there is a `cause`, the schema itself failed. */
export type CheckedPayload = { readonly value: unknown } | { readonly problem: string; readonly cause?: unknown };

/** Checks a payload. Synchronous unless the schema is asynchronous, because a promise for each message is costly. */
export type PayloadCheck = (payload: unknown) => CheckedPayload | Promise<CheckedPayload>;

/** Thrown when a stored payload does not match its queue's schema. The message dies at once, because a retry would change nothing. */
export class InvalidPayload extends Error {
  override readonly name = 'InvalidPayload';
}

/** Returns the check for a declared payload; undefined if nothing is checked at run time. */
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

interface CallableSchema {
  readonly '~standard': { readonly validate: (value: unknown) => unknown };
}

/** True for a Standard Schema, that is, an object or a function with a `validate` function. */
export function isSchema(spec: unknown): spec is CallableSchema {
  if ((typeof spec !== 'object' && typeof spec !== 'function') || spec === null) return false;
  const standard = (spec as Partial<CallableSchema>)['~standard'];
  return typeof standard?.validate === 'function';
}

export interface EncodedPayload {
  readonly queue: string;
  readonly type: string;
  readonly body: MessageBody;
  readonly codec: MessageCodec;
}

/**
 * Checks a payload before it is stored, but as its reader will get it: by then, a `Date` is text.
 * @returns a promise if the schema is asynchronous
 * @throws DelayQueueError `INVALID_PAYLOAD`, at once or in the promise
 */
export function checkEncoded(check: PayloadCheck, payload: EncodedPayload): Promise<void> | undefined {
  const { body, codec } = payload;
  const checked = check(readContent(codec, Buffer.from(body)).payload);
  if (checked instanceof Promise) return checked.then((known) => refuseInvalid(known, payload));
  refuseInvalid(checked, payload);
  return undefined;
}

export function nameOfPayload({ queue, type }: Pick<EncodedPayload, 'queue' | 'type'>): string {
  return type === NO_TYPE ? `payload of queue '${queue}'` : `payload of type '${type}' of queue '${queue}'`;
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

/** Names only paths, because messages of issues quote values, and payloads must not get into logs. */
function describe(issues: readonly Issue[]): string {
  const paths = [...new Set(issues.map(({ path = [] }) => showPath(path)))];
  const named = paths.slice(0, MAX_PATHS).join(', ') + (paths.length > MAX_PATHS ? ', …' : '');
  return `the schema refuses ${named}`;
}

function showPath(path: NonNullable<Issue['path']>): string {
  return ['payload', ...path.map((part) => String(typeof part === 'object' ? part.key : part))].join('.');
}
