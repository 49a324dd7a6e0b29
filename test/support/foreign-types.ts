import type { ChainableCommander } from 'ioredis';
import { isThorough } from './thorough.js';

/** How to write a value of each type of Redis; its content names messages that may exist. */
export const FOREIGN_VALUES: Readonly<Record<string, (redis: ChainableCommander, key: string) => unknown>> = {
  string: (redis, key) => redis.set(key, 'ready'),
  list: (redis, key) => redis.rpush(key, 'ready', 'active', 'dead', 'delayed'),
  set: (redis, key) => redis.sadd(key, 'ready', 'active', 'dead', 'delayed'),
  zset: (redis, key) => redis.zadd(key, 1, 'ready', 2, 'active', 3, 'dead', 4, 'delayed'),
  hash: (redis, key) => redis.hset(key, { ready: '1', active: '1', dead: '1', delayed: 'x' }),
  stream: (redis, key) => redis.xadd(key, '1-1', 'active', '1'),
};

/** One that is no collection, and one that many commands take for theirs. */
const CONFUSABLE = ['string', 'list'];

/** Each part of a queue with each of these types that its key must not have. */
export function foreignTypes<Part extends string>(
  rightTypes: Readonly<Record<Part, string>>,
  types: readonly string[] = isThorough ? Object.keys(FOREIGN_VALUES) : CONFUSABLE,
): [Part, string][] {
  const parts = Object.entries(rightTypes) as [Part, string][];
  return parts.flatMap(([part, right]) =>
    types.flatMap((type): [Part, string][] => (type === right ? [] : [[part, type]])),
  );
}
