import { directoryKeys } from '../../../lib/store/native/native-directory.js';
import { groupKeys, type GroupKeys, nativeKeys, type NativeKeys } from '../../../lib/store/native/native-keys.js';
import { redissonKeys } from '../../../packages/redisson/src/redisson-keys.js';
import type { SoakSettings } from '../soak-settings.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';

/** The keys of a queue, or of one of its partitions, that hold what is under way, and those that may remain. */
export interface QueueKeys {
  /** Each waiting message is in one of these sets or lists. */
  readonly sets: readonly string[];
  readonly lists: readonly string[];
  /** HASH of claims. */
  readonly claims: string;
  /** The keys whose messages are repaired; with Redisson's layout they have what Node has taken. */
  readonly repaired: NativeKeys;
  /** The keys of groups: the backlogs and who has a permit. */
  readonly groups?: Pick<GroupKeys, 'permits' | 'backlog' | 'held'>;
  /** These remain when the queue is empty. */
  readonly lasting: readonly string[];
}

/** @param partitions - how many each queue has at most */
export function keysOfQueues(
  { layout, groups, kinds }: Pick<SoakSettings, 'layout' | 'groups' | 'kinds'>,
  prefix: string,
  partitions = 1,
): QueueKeys[] {
  const ofGroups = groups > 0 ? keysOfGroups(prefix) : [];
  const isLogTorn = kinds?.includes('log torn') ?? false;
  return [...keysOf({ layout, prefix, partitions, isLogTorn }), ...ofGroups];
}

/** Returns the keys of the messages that have groups. */
function keysOfGroups(prefix: string): QueueKeys[] {
  return QUEUE_NAMES.map((queue) => {
    const repaired = groupKeys(prefix, queue);
    const { delayed, ready, claims } = repaired;
    return { sets: [delayed], lists: [ready], claims, repaired, groups: repaired, lasting: [] };
  });
}

interface Kept {
  readonly layout: SoakSettings['layout'];
  readonly prefix: string;
  readonly partitions: number;
  readonly isLogTorn: boolean;
}

function keysOf({ layout, prefix, partitions, isLogTorn }: Kept): QueueKeys[] {
  const directory = Object.values(directoryKeys(prefix)) as string[];
  return QUEUE_NAMES.flatMap((queue) => {
    if (layout === 'native') {
      return Array.from({ length: partitions }, (_, partition) => {
        const repaired = nativeKeys(prefix, queue, partition);
        const { delayed, ready, claims, partitions: agreed } = repaired;
        return { sets: [delayed], lists: [ready], claims, repaired, lasting: [agreed, ...directory] };
      });
    }
    const repaired = redissonKeys({ prefix, queue });
    const { timeouts, target, sequence, delayed, ready, claims, entries } = repaired;
    // Nobody repairs Redisson's own keys: a torn log leaves entries of messages that are gone, as it does with Java.
    const lasting = [sequence, ...directory, ...(isLogTorn ? [entries] : [])];
    return [{ sets: [timeouts, delayed], lists: [target, ready], claims, repaired, lasting }];
  });
}
