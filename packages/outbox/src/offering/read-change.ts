import { invalid, readFields, readType } from './arguments.js';
import { DelayQueueError } from 'nestjs-delay-queue';
import type { KnownQueue } from './known-queue.js';
import { encodePayload } from './payload-text.js';
import { readHeaders } from './read-offer.js';

const FIELDS = ['payload', 'headers', 'type'] as const;
const FIELDS_OF_ONE_KIND = ['payload', 'headers'] as const;

/**
 * Checks what a reschedule changes beside the due time.
 * @returns the body of its row
 * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`
 */
export async function changeBody(queue: KnownQueue, given: unknown): Promise<string> {
  if (given === undefined) return '{}';
  const isOfOneKind = queue.isTyped && queue.types === undefined;
  const { payload, headers, type } = readFields(given, 'change', isOfOneKind ? FIELDS_OF_ONE_KIND : FIELDS);
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
  };
  const body = JSON.stringify({ ...read, ...content });
  if (payload !== undefined) {
    const { payload: written } = JSON.parse(body) as { readonly payload?: unknown };
    await queue.check(read.type, Buffer.isBuffer(payload) ? payload : written);
  }
  return body;
}
