import { describe, expect, test } from '@jest/globals';
import type { ChainableCommander } from 'ioredis';
import type { DelayQueueProducer } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { CALLS, FullQueues } from '../faults/full-queue.js';
import { refusalOf } from '../support/refusal.js';

const RIGHT_TYPES = {
  delayed: 'zset',
  messages: 'hash',
  ready: 'list',
  claims: 'hash',
  leases: 'zset',
  attempts: 'hash',
  dead: 'zset',
  errors: 'hash',
  wake: 'list',
  rate: 'string',
  paused: 'string',
  partitions: 'string',
} as const;

/** How to write a foreign value of each type; its content names messages that exist. */
const VALUES: Record<string, (redis: ChainableCommander, key: string) => unknown> = {
  string: (redis, key) => redis.set(key, 'ready'),
  list: (redis, key) => redis.rpush(key, 'ready', 'active', 'dead'),
  set: (redis, key) => redis.sadd(key, 'ready', 'active', 'dead'),
  zset: (redis, key) => redis.zadd(key, 1, 'ready', 2, 'active', 3, 'dead'),
  hash: (redis, key) => redis.hset(key, { ready: '1', active: '1', dead: '1' }),
  stream: (redis, key) => redis.xadd(key, '1-1', 'active', '1'),
};

const CASES = Object.entries(RIGHT_TYPES).flatMap(([part, rightType]) =>
  Object.keys(VALUES)
    .filter((type) => type !== rightType)
    .map((type) => [part as keyof typeof RIGHT_TYPES, type] as const),
);

/** Instants differ between two queues, which were filled and called at different times. */
const withoutInstants = (answer: unknown) =>
  JSON.stringify(answer, (_name, value: unknown) => (typeof value === 'number' && value > 1e6 ? 'an instant' : value));

describe('foreign types in keys', () => {
  const scene = new Scene();
  const queues = new FullQueues(scene);

  test.each(CASES)('each call is refused without a change, or works as before: key %s, type %s', async (part, type) => {
    for (const [name, call] of Object.entries(CALLS)) {
      const { store, keys, dump } = await queues.copy((redis, { [part]: key }) => VALUES[type]!(redis.del(key), key));
      const before = await dump();
      let answer: unknown;
      const refusal = await refusalOf(call(store).then((it) => (answer = it)));

      if (refusal === undefined) {
        const intact = await queues.copy();
        expect([name, withoutInstants(answer)]).toEqual([name, withoutInstants(await call(intact.store))]);
        expect([name, (await dump())[part]]).toEqual([name, before[part]]);
        continue;
      }
      expect([name, refusal]).toMatchObject([name, { name: 'DelayQueueError', code: 'STORE_REFUSED' }]);
      expect((refusal as Error).message).toContain('WRONGTYPE');
      expect([name, await dump()]).toEqual([name, before]);
      expect(await scene.redis.type(keys[part])).toBe(type);
    }
  });

  test('a foreign type in any key is noticed by some call', async () => {
    for (const part of Object.keys(RIGHT_TYPES) as (keyof typeof RIGHT_TYPES)[]) {
      const refusals = await Promise.all(
        Object.values(CALLS).map(async (call) => {
          const { store } = await queues.copy((redis, { [part]: key }) => VALUES.stream!(redis.del(key), key));
          return refusalOf(call(store));
        }),
      );
      expect([part, refusals.some(Boolean)]).toEqual([part, true]);
    }
  });

  test('the producer fails with advice, and nothing is written', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    await scene.redis.set(scene.key(queue, 'delayed'), 'foreign');
    const calls: ((producer: DelayQueueProducer) => Promise<unknown>)[] = [
      (p) => p.offer(queue, 1, 0),
      (p) => p.cancel(queue, 'm'),
      (p) => p.counts(queue),
    ];
    for (const call of calls) {
      await expect(call(producer)).rejects.toMatchObject({
        code: 'STORE_REFUSED',
        message: expect.stringMatching(/WRONGTYPE.*prefix/),
      });
    }
    expect(await scene.redis.keys(`${scene.prefix}:{${queue}}:*`)).toEqual([scene.key(queue, 'delayed')]);
  });
});
