import { DelayQueueError } from './delay-queue-errors.js';

/** No braces: the name goes between those of a key's hash tag, and `{}` inside would spread the queue's keys over hash slots. */
export const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

export const QUEUE_NAME_RULE = 'a queue name has 1–128 of the characters A–Z a–z 0–9 _ . : -';

/**
 * Asserts that a queue name is valid, as every method with such a parameter does: for tools, before they connect.
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function assertQueueName(queue: unknown): asserts queue is string {
  if (typeof queue === 'string' && QUEUE_NAME.test(queue)) return;
  const given = typeof queue === 'string' ? JSON.stringify(queue.slice(0, 140)) : typeof queue;
  throw new DelayQueueError('INVALID_ARGUMENT', `queue: ${QUEUE_NAME_RULE}, not ${given}`);
}
