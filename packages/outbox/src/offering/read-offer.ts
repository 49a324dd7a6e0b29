import type { NewRow, RowBody } from '../table/row.js';
import { readRetries } from './read-retries.js';
import { type Due, invalid, readDuration, readEither, readFields, readGroup, readId, readType } from './arguments.js';
import type { KnownQueue } from './known-queue.js';
import { newId } from './new-id.js';
import { encodePayload } from './payload-text.js';
import { shown } from './shown.js';

const TYPED_OPTIONS = [
  ...(['id', 'headers', 'onDuplicate', 'group'] as const),
  ...(['expiresAfter', 'onExpired', 'attempts', 'backoff', 'maxWait'] as const),
] as const;
const OPTIONS = ['type', ...TYPED_OPTIONS] as const;
const REQUEST = ['payload', 'delay', 'at', ...OPTIONS] as const;

/** An offer, as the caller gave it. */
export interface GivenOffer {
  readonly payload: unknown;
  readonly due: Due;
  readonly type?: unknown;
  readonly id?: unknown;
  readonly headers?: unknown;
  readonly onDuplicate?: unknown;
  readonly group?: unknown;
  readonly expiresAfter?: unknown;
  readonly onExpired?: unknown;
  readonly attempts?: unknown;
  readonly backoff?: unknown;
  readonly maxWait?: unknown;
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

/** Checks an offer, and makes its row. @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD` */
export async function offerRow(queue: KnownQueue, given: GivenOffer): Promise<NewRow> {
  const messageId = given.id === undefined ? newId() : readId(given.id);
  const type = given.type === undefined ? undefined : readType(given.type);
  const headers = given.headers === undefined ? undefined : readHeaders(given.headers);
  const onDuplicate = readOnDuplicate(given.onDuplicate);
  const group = given.group === undefined ? undefined : readGroup(given.group);
  const retries = { ...queue.retriesOf(type), ...readRetries(given) };
  const options = { type, headers, onDuplicate, group, ...readExpiry(given), ...retries, maxWait: readMaxWait(given) };
  const content = encodePayload(given.payload);
  const body = JSON.stringify({ ...options, ...content });
  // A Date is text when the handler gets it.
  await queue.check(
    type,
    Buffer.isBuffer(given.payload) ? given.payload : (JSON.parse(body) as typeof content).payload,
  );
  return { operation: 'offer', queue: queue.name, messageId, body, due: given.due };
}

const NO_DUPLICATES: Readonly<Record<string, string>> = {
  reject: "'reject' could tell nobody, because the message is offered after the transaction",
  follow: "'follow' would follow its own message if the row were relayed twice",
};

function readOnDuplicate(given: unknown): 'replace' | undefined {
  if (given === undefined || given === 'keep') return undefined;
  if (given === 'replace') return given;
  const reason = typeof given === 'string' && Object.hasOwn(NO_DUPLICATES, given) ? `; ${NO_DUPLICATES[given]}` : '';
  throw invalid(`onDuplicate must be 'keep' or 'replace', not ${shown(given)}${reason}`);
}

function readExpiry({ expiresAfter, onExpired }: GivenOffer): Pick<RowBody, 'expiresAfter' | 'onExpired'> {
  if (onExpired !== undefined && expiresAfter === undefined) {
    throw invalid('onExpired needs expiresAfter, which says when the message expires');
  }
  if (onExpired !== undefined && onExpired !== 'drop' && onExpired !== 'dead') {
    throw invalid(`onExpired must be 'drop' or 'dead', not ${shown(onExpired)}`);
  }
  const isDuration = expiresAfter !== undefined && expiresAfter !== 'never';
  return { expiresAfter: isDuration ? readDuration(expiresAfter, 'expiresAfter', 0) : expiresAfter, onExpired };
}

/** @returns ms */
function readMaxWait({ maxWait, id, onDuplicate }: GivenOffer): number | undefined {
  if (maxWait === undefined) return undefined;
  if (id !== undefined && onDuplicate === 'replace') return readDuration(maxWait, 'maxWait', 1);
  throw invalid("maxWait: goes with an id and onDuplicate: 'replace'");
}

export function readHeaders(given: unknown): Readonly<Record<string, string>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Map) {
    throw invalid('headers must be an object of text values');
  }
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (typeof value !== 'string') throw invalid(`headers[${shown(name)}] must be text, not ${shown(value)}`);
    if (!name.isWellFormed() || !value.isWellFormed()) {
      throw invalid(`headers[${shown(name)}] must be well-formed text, but contains an unpaired surrogate`);
    }
  }
  return given as Readonly<Record<string, string>>;
}
