import { nativeKeys } from '../../../lib/store/native/native.keys.js';
import { redissonKeys } from '../../../lib/store/redisson/redisson.keys.js';
import type { Layout } from '../soak-settings.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';

/** Where to look for what is on its way, and what may be left, of one queue. */
export interface QueueKeys {
  /** Messages that wait, each in one of these. */
  readonly sets: readonly string[];
  readonly lists: readonly string[];
  /** HASH of claims. */
  readonly claims: string;
  /** They stay when a queue is empty. */
  readonly lasting: readonly string[];
}

export function keysOfQueues(layout: Layout, prefix: string): QueueKeys[] {
  return QUEUE_NAMES.map((queue) => {
    if (layout === 'native') {
      const { delayed, ready, claims, mover } = nativeKeys(prefix, queue);
      return { sets: [delayed], lists: [ready], claims, lasting: [mover] };
    }
    const { timeouts, target, sequence, delayed, ready, claims, mover } = redissonKeys({ prefix, queue });
    return { sets: [timeouts, delayed], lists: [target, ready], claims, lasting: [mover, sequence] };
  });
}
