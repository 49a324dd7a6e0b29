import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Retries } from '../message/retries.js';
import type { Queue } from '../runtime/queues.js';
import { unsupported } from '../store/unsupported.js';
import type { CheckedOfferOptions, SpecialOptions } from './offer.js';

/** Throws if the queue's layout, or the lack of the option `groups`, rules out one of an offer's options. */
export function assertSupported(
  queue: Queue,
  onDuplicate: CheckedOfferOptions['onDuplicate'],
  { maxWait, expiry, retries, group }: SpecialOptions,
): void {
  const { can } = queue.options.layout;
  if (onDuplicate === 'follow' && !can.followers) throw unsupported(queue, "onDuplicate: 'follow'");
  if (onDuplicate === 'follow' && queue.options.idsFor) {
    const problem = `queue '${queue.name}' keeps the ids of handled messages (idsFor), so nothing can follow one; use 'keep', or another id`;
    throw new DelayQueueError('INVALID_ARGUMENT', `onDuplicate: 'follow': ${problem}`);
  }
  if (maxWait !== undefined && !can.debounce) throw unsupported(queue, 'maxWait');
  if (expiry && !can.expiry) throw unsupported(queue, 'expiresAfter');
  if (retries) assertRetries(queue, retries);
  if (group !== undefined) assertGrouped(queue, 'group');
}

/** Throws `UNSUPPORTED_BY_LAYOUT` unless messages of this queue may have their own attempts and backoff. */
export function assertRetries(queue: Queue, { attempts }: Retries): void {
  if (!queue.options.layout.can.retries) throw unsupported(queue, attempts === undefined ? 'backoff' : 'attempts');
}

/**
 * Throws unless the messages of this queue may have groups.
 * @throws DelayQueueError `UNSUPPORTED_BY_LAYOUT`, `INVALID_ARGUMENT`
 */
export function assertGrouped(queue: Queue, what: string): void {
  const { groups, layout } = queue.options;
  if (!layout.can.groups) throw unsupported(queue, what);
  if (groups) return;
  const advice = `set queues['${queue.name}'].groups, such as { concurrency: 1 }, in every process that uses the queue`;
  throw new DelayQueueError('INVALID_ARGUMENT', `${what}: queue '${queue.name}' has no groups; ${advice}`);
}

/**
 * Throws unless this queue keeps the ids of handled messages.
 * @throws DelayQueueError `UNSUPPORTED_BY_LAYOUT`, `INVALID_ARGUMENT`
 */
export function assertKeepsIds(queue: Queue, what: string): void {
  const { idsFor, layout } = queue.options;
  if (!layout.can.idsFor) throw unsupported(queue, what);
  if (idsFor) return;
  const advice = `set queues['${queue.name}'].idsFor, such as { for: '1d' }, in every process that uses the queue`;
  throw new DelayQueueError('INVALID_ARGUMENT', `${what}: queue '${queue.name}' keeps no ids; ${advice}`);
}
