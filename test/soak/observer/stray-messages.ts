import type { Cluster, Redis } from 'ioredis';
import type { QueueKeys } from './queue-keys.js';

/** @returns how many messages of a queue, or of one of its partitions, are stored but in no state */
export async function countStray(
  redis: Redis | Cluster,
  { repaired: { messages, delayed, ready, dead, claims }, lines }: Pick<QueueKeys, 'repaired' | 'lines'>,
): Promise<number> {
  const counting = redis.multi().hlen(messages).zcard(delayed).llen(ready).zcard(dead).hvals(claims);
  if (lines !== undefined) counting.hlen(lines);
  const replies = await counting.exec();
  const [stored, waiting, due, buried, held, inLines = 0] = (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const active = (held as string[]).flatMap((ids) => ids.split('\n').filter((id) => id !== ''));
  return Math.max(
    0,
    Number(stored) - Number(waiting) - Number(due) - Number(buried) - Number(inLines) - new Set(active).size,
  );
}
