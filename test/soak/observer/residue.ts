import type { Redis } from 'ioredis';
import type { QueueKeys } from './queue-keys.js';

/** Finds keys that a run with empty queues should not leave in Redis; lasting and expiring keys may stay. */
export async function findResidue(redis: Redis, queues: readonly QueueKeys[]): Promise<string[]> {
  const expected = queues.flatMap(({ lasting }) => lasting);
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1000);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  const unexpected = [...found].filter((key) => !expected.includes(key)).sort();
  const residue: string[] = [];
  for (const key of unexpected) {
    const [type, lifetime] = await Promise.all([redis.type(key), redis.pttl(key)]);
    if (lifetime < 0 && type !== 'none') residue.push(`${key} (${type})`);
  }
  return residue;
}
