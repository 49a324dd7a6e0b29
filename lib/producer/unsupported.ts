import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Queue } from '../runtime/queues.js';
import type { CheckedOfferOptions } from './offer.js';

/** The error of a call that asks for what the layout of a queue cannot do. */
export function unsupported({ name, options }: Queue, what: string): DelayQueueError {
  const problem = `${what}: layout '${options.layout.name}' of queue '${name}' cannot do this; leave it out`;
  return new DelayQueueError('UNSUPPORTED_BY_LAYOUT', problem);
}

/**
 * Makes sure that a queue's layout can do what an offer asks for.
 *
 * @throws DelayQueueError `UNSUPPORTED_BY_LAYOUT`
 */
export function assertSupported(queue: Queue, { onDuplicate, maxWait, expiry }: CheckedOfferOptions): void {
  const { can } = queue.options.layout;
  if (onDuplicate === 'follow' && !can.followers) throw unsupported(queue, "onDuplicate: 'follow'");
  if (maxWait !== undefined && !can.debounce) throw unsupported(queue, 'maxWait');
  if (expiry && !can.expiry) throw unsupported(queue, 'expiresAfter');
}
