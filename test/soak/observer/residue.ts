import { Cluster, type Redis } from 'ioredis';
import type { QueueKeys } from './queue-keys.js';

/** Finds keys that a run with empty queues should not leave in Redis; lasting and expiring keys may stay. */
export async function findResidue(redis: Redis | Cluster, queues: readonly QueueKeys[]): Promise<string[]> {
  const expected = queues.flatMap(({ lasting }) => lasting);
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const found = (await Promise.all(servers.map(keysOf))).flat();
  const unexpected = [...new Set(found)].filter((key) => !expected.includes(key)).sort();
  const residue: string[] = [];
  for (const key of unexpected) {
    const [type, lifetime] = await Promise.all([redis.type(key), redis.pttl(key)]);
    if (lifetime < 0 && type !== 'none') residue.push(`${key} (${type})`);
  }
  return residue;
}

async function keysOf(redis: Redis): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1000);
    found.push(...keys);
    cursor = next;
  } while (cursor !== '0');
  return found;
}
