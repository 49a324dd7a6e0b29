import { DelayQueueError } from '../message/delay-queue-errors.js';
import { partitionConflict } from '../message/partition-conflict.js';
import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import type { StoreLimits } from '../store/message-store.js';
import type { Router } from '../store/router.js';
import { unsupported } from '../store/unsupported.js';

export interface LimitableQueue {
  readonly name: string;
  readonly options: Pick<ResolvedQueueOptions, 'layout' | 'partitions' | 'groups'>;
  readonly router: Pick<Router, 'changes'>;
}

/**
 * Throws unless the limits of this queue may change while it runs.
 * @throws DelayQueueError `UNSUPPORTED_BY_LAYOUT`, `INVALID_ARGUMENT`
 */
export function assertLimitable(queue: LimitableQueue, limits: Pick<StoreLimits, 'rate' | 'globalConcurrency'>): void {
  const { layout, partitions, groups } = queue.options;
  const what = `limits('${queue.name}').set(…)`;
  if (!layout.can.globalConcurrency) throw unsupported(queue, what);
  const count = Math.max(partitions, queue.router.changes?.partitions ?? 1);
  const conflict = partitionConflict(limits, { partitions: count, hasGroups: Boolean(groups) });
  if (!conflict) return;
  const problem = {
    'global concurrency': 'globalConcurrency needs partitions: 1, because no claim sees the messages of all partitions',
    'rate with groups': 'rate needs partitions: 1 if messages have groups',
    'low rate': `rate.max must be at least ${count}, because each partition has an equal share`,
  }[conflict];
  throw new DelayQueueError('INVALID_ARGUMENT', `${what}: ${problem}; the queue has partitions: ${count}`);
}
