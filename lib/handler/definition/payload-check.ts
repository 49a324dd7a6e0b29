import type { MessageBody, MessageCodec } from '../../message/codec/message-codec.js';
import { readContent } from '../../message/codec/read-content.js';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { showFailure } from '../../message/failure.js';
import { NO_TYPE } from '../../message/message-type.js';
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

/** A payload that is about to be stored. */
export interface EncodedPayload {
  readonly queue: string;
  readonly type: string;
  readonly body: MessageBody;
  readonly codec: MessageCodec;
}

/**
 * Checks a payload before it is stored, as it will be read: a `Date` is text by then.
 *
 * @returns a promise if the schema takes its time
 * @throws DelayQueueError `INVALID_PAYLOAD`, or the promise rejects with it
 */
export function checkEncoded(check: PayloadCheck, payload: EncodedPayload): Promise<void> | undefined {
  const { body, codec } = payload;
  const checked = check(readContent(codec, Buffer.from(body)).payload);
  if (checked instanceof Promise) return checked.then((known) => refuseInvalid(known, payload));
  refuseInvalid(checked, payload);
  return undefined;
}

/** What errors call a payload. */
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

/** So many places are named. */
const MAX_PATHS = 10;

/** The paths alone: messages of issues quote values, and payloads must not get into logs. */
function describe(issues: readonly Issue[]): string {
  const paths = [...new Set(issues.map(({ path = [] }) => showPath(path)))];
  const named = paths.slice(0, MAX_PATHS).join(', ') + (paths.length > MAX_PATHS ? ', …' : '');
  return `the schema refuses ${named}`;
}

function showPath(path: NonNullable<Issue['path']>): string {
  return ['payload', ...path.map((part) => String(typeof part === 'object' ? part.key : part))].join('.');
}
