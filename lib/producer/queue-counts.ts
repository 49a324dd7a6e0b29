import { NO_TYPE } from '../message/message-type.js';
import type { MessageCounts, MessageState } from '../message/message.js';
import type { Queue } from '../runtime/queues.js';

/** How many messages of a queue are in each state. */
export interface QueueCounts extends MessageCounts {
  /**
   * The partitions that did not answer, from 0: what is in them is left out. Absent if all have answered, and always without
   * `partitions`: then a read that is not answered fails.
   */
  readonly missing?: readonly number[];
}

/**
 * Adds up the pages of a walk through a queue. The result is a `Map`, because any name may be a type, `__proto__` included, and
 * because the compiler knows that `get` may find nothing.
 */
export async function countByType({ store, options }: Queue): Promise<ReadonlyMap<string, MessageCounts>> {
  const counts = new Map<string, Record<MessageState, number>>();
  let cursor: string | undefined;
  do {
    const page = await store.countTypes(cursor);
    for (const { state, type, count } of page.counts) {
      // In memory, a payload of another layout may look like a body with a type.
      const name = options.layout.can.types ? type : NO_TYPE;
      const ofType = counts.get(name) ?? { delayed: 0, ready: 0, active: 0, dead: 0 };
      ofType[state] += count;
      counts.set(name, ofType);
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return counts;
}
