import { DelayQueueError } from '../message/delay-queue-errors.js';
import { assertMessageType, NO_TYPE } from '../message/message-type.js';
import type { MessageHeaders } from '../message/message.js';
import { readFields, reading } from '../message/read-fields.js';
import { readHeaders } from './offer.js';

/** What `reschedule` changes of a message besides its due time. What is left out stays as it is. */
export interface MessageChange {
  /** JSON values or a `Buffer`, in place of the present payload. */
  readonly payload?: unknown;
  /** In place of all present headers. */
  readonly headers?: MessageHeaders | undefined;
  /** In place of the present type. 1–64 of the characters `A–Z a–z 0–9 _ . : -`. */
  readonly type?: string | undefined;
}

const FIELDS: readonly (keyof MessageChange)[] = ['payload', 'headers', 'type'];
const FIELDS_OF_ONE_KIND: readonly (keyof MessageChange)[] = ['payload', 'headers'];

/**
 * Reads and checks a change, each field once.
 *
 * @returns undefined if it changes nothing
 * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`
 */
export function readChange(given: MessageChange | undefined, fields = FIELDS): MessageChange | undefined {
  if (given === undefined) return undefined;
  const { payload, headers, type } = readFields(given, 'change', fields);
  if (payload === undefined && reading('change', () => Object.hasOwn(given, 'payload'))) {
    throw new DelayQueueError('INVALID_PAYLOAD', 'payload: it is undefined; leave it out to keep the present one');
  }
  if (type !== undefined) assertMessageType(type);
  const change = {
    ...(payload !== undefined && { payload }),
    ...(headers !== undefined && { headers: readHeaders(headers) }),
    ...(type !== undefined && { type }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** As {@link readChange}, of a queue whose messages have no type. */
export function readChangeOfOneKind(given: MessageChange | undefined): MessageChange | undefined {
  const change = readChange(given, FIELDS_OF_ONE_KIND);
  return change?.payload === undefined ? change : { ...change, type: NO_TYPE };
}

/** As {@link readChange}, of a queue whose messages have types: a payload names its own. */
export function readChangeOfTypes(given: MessageChange | undefined): MessageChange | undefined {
  const change = readChange(given);
  if (change?.type === undefined || change.payload !== undefined) return change;
  throw new DelayQueueError('INVALID_ARGUMENT', 'type: goes with a payload of that type');
}
