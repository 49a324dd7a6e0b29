import { randomBytes } from 'node:crypto';

export function newOrderId(): string {
  return randomBytes(8).toString('hex');
}

/** The id of the message that cancels an order. */
export function timeoutId(orderId: string): string {
  return `unpaid:${orderId}`;
}
