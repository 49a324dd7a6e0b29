import { LiveLimits, shareOf } from '../limits/live-limits.js';
import type { NativeLimits } from '../limits/native-limits.js';
import { GroupRouter } from '../groups/group-router.js';
import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import { FixedPartitions } from '../partitions/fixed-partitions.js';
import { NativePartitions } from '../partitions/native-partitions.js';
import { evenIds, PartitionRouter, stickyIds } from '../partitions/partition-router.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { StoresOfQueue } from '../store/memory/memory-stores.js';
import type { MessageStore, StoreLimits } from '../store/message-store.js';
import { GroupStore } from '../groups/group-store.js';
import { PlainRouter, type Router } from '../store/router.js';

/** Returns a function that opens queues in Redis with the parts that their options require. */
export function openerInRedis(connections: RedisConnections, prefix: string, set: NativeLimits) {
  const [sticky, even] = [stickyIds(), evenIds()];
  return (queue: string, options: ResolvedQueueOptions): Router => {
    const { layout, partitions, groups, blockTimeout, checkInterval } = options;
    const limitsOf = (count: number) => {
      const own = limitsOfPartition(options, count);
      return layout.can.globalConcurrency ? new LiveLimits(own, set, { queue, partitions: count, checkInterval }) : own;
    };
    const toOpen = { prefix, queue, partitions, limitsOf, groups, blockTimeout };
    const router = layout.can.partitions
      ? new PartitionRouter(new NativePartitions(connections, toOpen), options.rate ? even : sticky)
      : layout.open(connections, toOpen);
    if (!groups) return router;
    return new GroupRouter(router, new GroupStore(connections, { prefix, queue, limits: limitsOf(1), rules: groups }));
  };
}

/** Creates the router of a queue that is stored in this process. */
export function routerOf(
  { partitions, groups }: StoresOfQueue<MessageStore>,
  { rate }: Partial<Pick<ResolvedQueueOptions, 'rate'>> = {},
): Router {
  const router =
    partitions.length === 1
      ? new PlainRouter(partitions[0]!)
      : new PartitionRouter(new FixedPartitions(partitions), rate ? evenIds() : stickyIds());
  return groups ? new GroupRouter(router, groups) : router;
}

/** Returns the limits of one partition, given the number of partitions. */
export function limitsOfPartition(options: ResolvedQueueOptions, partitions = options.partitions): StoreLimits {
  const { attempts, maxDeadLetters, maxMessages, rate, globalConcurrency, history, idsFor } = options;
  return {
    attempts,
    maxDeadLetters: Math.ceil(maxDeadLetters / partitions),
    maxMessages: maxMessages === null ? null : Math.ceil(maxMessages / partitions),
    rate: shareOf(rate, partitions),
    globalConcurrency,
    history: history && { ...history, max: Math.ceil(history.max / partitions) },
    idsFor: idsFor && { ...idsFor, max: Math.ceil(idsFor.max / partitions) },
  };
}
