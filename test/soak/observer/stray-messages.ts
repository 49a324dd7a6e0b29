import type { Cluster, Redis } from 'ioredis';
import type { QueueKeys } from './queue-keys.js';

/** @returns how many messages of a queue, or of one of its partitions, are stored but in no state, or wait in the lines of their groups */
export async function countStray(
  redis: Redis | Cluster,
  { repaired: { messages, delayed, ready, dead, claims } }: Pick<QueueKeys, 'repaired'>,
): Promise<number> {
  const replies = await redis.multi().hlen(messages).zcard(delayed).llen(ready).zcard(dead).hvals(claims).exec();
  const [stored, waiting, due, buried, held] = (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const active = (held as string[]).flatMap((ids) => ids.split('\n').filter((id) => id !== ''));
  return Math.max(0, Number(stored) - Number(waiting) - Number(due) - Number(buried) - new Set(active).size);
}

/** @returns how many claims of a queue, or of one of its partitions, have no lease */
export async function countUnleased(
  redis: Redis | Cluster,
  { repaired: { claims, leases } }: Pick<QueueKeys, 'repaired'>,
): Promise<number> {
  const [tokens, leased] = (await redis.multi().hkeys(claims).zrange(leases, 0, '-1').exec()) ?? [];
  const known = new Set(leased?.[1] as string[]);
  return (tokens?.[1] as string[]).filter((token) => !known.has(token)).length;
}
