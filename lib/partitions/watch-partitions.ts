import type { RedisAnnouncements } from '../redis/announcements/redis-announcements.js';
import type { CancelTimer, Clock } from '../timing/clock.js';

/** What `agree.lua` announces. */
const CHANGED = 'partitions';

export interface PartitionWatchOptions {
  readonly announcements: RedisAnnouncements;
  /** Of partition 0, where changes are made. */
  readonly channel: string;
  readonly clock: Clock;
  /** The longest time between two looks, ms. */
  readonly checkInterval: number;
  /** Looks whether the partitions have changed; it must not throw. */
  readonly look: () => Promise<void>;
}

/**
 * Looks whether the partitions of a queue have changed: when that is announced, when announcements may have been missed, and from
 * time to time. So a process that only consumes learns of new partitions, too.
 *
 * @returns what ends it
 */
export function watchPartitions({ announcements, channel, clock, checkInterval, look }: PartitionWatchOptions) {
  let cancelTimer: CancelTimer | undefined;
  let isStopped = false;
  const lookLater = () => {
    cancelTimer = clock.schedule(() => void look().then(() => isStopped || lookLater()), checkInterval);
  };
  const unlisten = announcements.listen(channel, {
    onMessage: (text) => void (text === CHANGED && look()),
    onListening: () => void look(),
  });
  lookLater();
  return () => {
    isStopped = true;
    unlisten();
    cancelTimer?.();
  };
}
