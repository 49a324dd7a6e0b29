import type { Duration } from '../message/duration.js';
import { NO_TYPE } from '../message/message-id.js';
import type { MessageHeaders } from '../message/message.js';
import { readFields } from '../message/read-fields.js';
import type { Retries } from '../message/retries.js';
import type { RetryOptions } from '../options/queue-options.js';
import { checkOfferOptions } from '../producer/offer.js';
import { readCount, readPatience } from './call-bounds.js';

/** What a simulated handler call gets besides the payload: the message's other fields, the attempt, and how long the call may take. */
export interface HandleOptions extends RetryOptions {
  /** The type of the message. Default: none. */
  readonly type?: string | undefined;
  /** The id of the message. Default: `test-1`, `test-2`… */
  readonly id?: string | undefined;
  /** The headers of the message. Default: none. */
  readonly headers?: MessageHeaders | undefined;
  /** The group of the message, for a queue with `groups`. Default: none. */
  readonly group?: string | undefined;
  /** The number of the attempt. If the last of `attempts` fails, the message would become a dead letter. Default: 1. */
  readonly attempt?: number | undefined;
  /** How long the handler may take in real time. Default: `'4s'`. */
  readonly patience?: Duration | undefined;
}

/** {@link HandleOptions} for a typed queue, where the type precedes the payload. */
export type TypedHandleOptions = Omit<HandleOptions, 'type'>;

export interface ResolvedHandleOptions {
  readonly type: string;
  readonly id: string;
  readonly headers: MessageHeaders;
  readonly group: string | undefined;
  readonly retries: Retries | undefined;
  readonly attempt: number;
  readonly patience: number;
}

const FIELDS: readonly (keyof HandleOptions)[] = [
  'type',
  'id',
  'headers',
  'group',
  'attempts',
  'backoff',
  'attempt',
  'patience',
];

export function readHandleOptions(given: HandleOptions, newId: () => string): ResolvedHandleOptions {
  const { attempt = 1, patience, ...offer } = readFields(given, 'options', FIELDS);
  const { type = NO_TYPE, id = newId(), headers = {}, special } = checkOfferOptions(offer);
  return {
    type,
    id,
    headers,
    group: special?.group,
    retries: special?.retries,
    attempt: readCount('attempt', attempt),
    patience: readPatience(patience),
  };
}
