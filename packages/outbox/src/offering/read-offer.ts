import type { NewRow } from '../table/row.js';
import { type Due, invalid, readEither, readFields, readId, readType } from './arguments.js';
import type { KnownQueue } from './known-queue.js';
import { newId } from './new-id.js';
import { encodePayload } from './payload-text.js';
import { shown } from './shown.js';

const OPTIONS = ['type', 'id', 'headers', 'onDuplicate'] as const;
const TYPED_OPTIONS = ['id', 'headers', 'onDuplicate'] as const;
const REQUEST = ['payload', 'delay', 'at', ...OPTIONS] as const;

/** What is offered, as the caller gave it. */
export interface GivenOffer {
  readonly payload: unknown;
  readonly due: Due;
  readonly type?: unknown;
  readonly id?: unknown;
  readonly headers?: unknown;
  readonly onDuplicate?: unknown;
}

/** Reads the options of one offer. The type of a typed queue is no option. */
export function readOptions(given: unknown, { isTyped }: KnownQueue): Omit<GivenOffer, 'payload' | 'due'> {
  return given === undefined ? {} : readFields(given, 'options', isTyped ? TYPED_OPTIONS : OPTIONS);
}

/** Reads one message of `offerMany`. */
export function readRequest(given: unknown): GivenOffer {
  const { payload, delay, at, ...options } = readFields(given, 'it', REQUEST);
  return { ...options, payload, due: readEither(delay, at) };
}

/**
 * Checks an offer, and makes its row.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`
 */
export async function offerRow(queue: KnownQueue, given: GivenOffer): Promise<NewRow> {
  const messageId = given.id === undefined ? newId() : readId(given.id);
  const type = given.type === undefined ? undefined : readType(given.type);
  const headers = given.headers === undefined ? undefined : readHeaders(given.headers);
  const onDuplicate = readOnDuplicate(given.onDuplicate);
  const content = encodePayload(given.payload);
  const body = JSON.stringify({ type, headers, onDuplicate, ...content });
  // A Date is text by the time the handler has it.
  await queue.check(
    type,
    Buffer.isBuffer(given.payload) ? given.payload : (JSON.parse(body) as typeof content).payload,
  );
  return { operation: 'offer', queue: queue.name, messageId, body, due: given.due };
}

function readOnDuplicate(given: unknown): 'replace' | undefined {
  if (given === undefined || given === 'keep') return undefined;
  if (given === 'replace') return given;
  const reason = "'reject' has nobody to tell: the message is offered after the transaction";
  throw invalid(
    `onDuplicate must be 'keep' or 'replace', not ${shown(given)}${given === 'reject' ? `; ${reason}` : ''}`,
  );
}

function readHeaders(given: unknown): Readonly<Record<string, string>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Map) {
    throw invalid('headers must be an object of text values');
  }
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (typeof value !== 'string') throw invalid(`headers[${shown(name)}] must be text, not ${shown(value)}`);
    if (!name.isWellFormed() || !value.isWellFormed()) {
      throw invalid(`headers[${shown(name)}] must be well-formed text, but has half of a surrogate pair`);
    }
  }
  return given as Readonly<Record<string, string>>;
}
