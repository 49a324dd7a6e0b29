import { Delivery, type Lease } from '../../lib/consumer/delivery.js';
import type { ClaimedMessage } from '../../lib/store/consumer-store.js';

/** The common fields of the messages of a claim; by default it never ends. */
export function newLease(token = 't', end = Infinity): Lease {
  return { token, claimedAt: 0, receivedAt: 0, end, held: 0, storeNow: () => 0 };
}

/** A delivery of a message in its first attempt. */
export function newDelivery(id: string, message: Partial<ClaimedMessage> = {}, lease = newLease()): Delivery {
  const first = { id, body: Buffer.of(), failedAttempts: 0, dueAt: 0, offeredAt: 0 };
  return new Delivery('orders', { ...first, ...message }, lease);
}
