import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import type { StoreLimits } from '../store/message-store.js';

/**
 * The limits of each partition of a queue: its share of those that are meant for the whole queue.
 *
 * @param partitions - how many there are
 */
export function limitsOfPartition(options: ResolvedQueueOptions, partitions = options.partitions): StoreLimits {
  const { attempts, maxDeadLetters, maxMessages, rate } = options;
  return {
    attempts,
    maxDeadLetters: Math.ceil(maxDeadLetters / partitions),
    maxMessages: maxMessages === null ? null : Math.ceil(maxMessages / partitions),
    rate,
  };
}
