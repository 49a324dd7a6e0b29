import type { Redis } from 'ioredis';
import { nativeKeys } from '../../../lib/store/native/native.keys.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';

/** Finds what is left in Redis of a run whose queues are empty: nothing but who moved messages last. */
export async function findResidue(redis: Redis, prefix: string): Promise<string[]> {
  const expected = QUEUE_NAMES.map((queue) => nativeKeys(prefix, queue).mover);
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1000);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  const unexpected = [...found].filter((key) => !expected.includes(key)).sort();
  return Promise.all(unexpected.map(async (key) => `${key} (${await redis.type(key)})`));
}
