import { invalid, readFields, readType } from './arguments.js';
import { DelayQueueError } from 'nestjs-delay-queue';
import type { KnownQueue } from './known-queue.js';
import { encodePayload } from './payload-text.js';
import { readHeaders } from './read-offer.js';
import { readRetries } from './read-retries.js';

const FIELDS_OF_ONE_KIND = ['payload', 'headers', 'attempts', 'backoff'] as const;
const FIELDS = [...FIELDS_OF_ONE_KIND, 'type'] as const;

/**
 * Checks what a reschedule changes beside the due time.
 * @returns the body of its row
 * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`
 */
export async function changeBody(queue: KnownQueue, given: unknown): Promise<string> {
  if (given === undefined) return '{}';
  const isOfOneKind = queue.isTyped && queue.types === undefined;
  const fields = readFields(given, 'change', isOfOneKind ? FIELDS_OF_ONE_KIND : FIELDS);
  const { payload, headers, type } = fields;
  if (payload === undefined && Object.hasOwn(given as object, 'payload')) {
    throw new DelayQueueError('INVALID_PAYLOAD', 'payload: it is undefined; leave it out to keep the current one');
  }
  if (queue.types !== undefined && type !== undefined && payload === undefined) {
    throw invalid('type: goes with a payload of that type');
  }
  const content = payload === undefined ? {} : encodePayload(payload);
  const read = {
    type: type === undefined ? undefined : readType(type),
    headers: headers === undefined ? undefined : readHeaders(headers),
    ...readRetries(fields),
  };
  const body = JSON.stringify({ ...read, ...content });
  if (payload !== undefined) {
    const { payload: written } = JSON.parse(body) as { readonly payload?: unknown };
    await queue.check(read.type, Buffer.isBuffer(payload) ? payload : written);
  }
  return body;
}
