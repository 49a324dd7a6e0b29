import type { DelayQueueProducer } from '../../lib/index.js';

/** The number of messages of one call, and of concurrent calls. */
const PART = 1000;
const AT_ONCE = 4;

/** A message as `offerMany` takes it. */
export interface PlainOffer {
  readonly payload: unknown;
  readonly delay: number;
  readonly id?: string;
  readonly group?: string;
}

/** Offers many messages, in their order. */
export async function offerInParts(
  producer: DelayQueueProducer,
  queue: string,
  offers: readonly PlainOffer[],
): Promise<void> {
  for (let at = 0; at < offers.length; at += PART * AT_ONCE) {
    const parts = Array.from({ length: AT_ONCE }, (_, i) => offers.slice(at + i * PART, at + (i + 1) * PART));
    await Promise.all(parts.filter(({ length }) => length > 0).map((part) => producer.offerMany(queue, part)));
  }
}
