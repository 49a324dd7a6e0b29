import type { DelayQueueProducer } from '../../lib/index.js';

/** True if a queue holds nothing but the given number of dead letters. */
export async function isEmpty(
  producer: Pick<DelayQueueProducer, 'counts'>,
  queue: string,
  { dead: expected = 0 } = {},
): Promise<boolean> {
  const { delayed, ready, active, dead } = await producer.counts(queue);
  return delayed + ready + active === 0 && dead === expected;
}
