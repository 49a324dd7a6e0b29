import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { CALLS, FullQueues, withoutInstants } from '../faults/full-queue.js';
import { FOREIGN_VALUES, foreignTypes } from '../support/foreign-types.js';
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
  followers: 'hash',
  wake: 'list',
  rate: 'string',
  paused: 'string',
  partitions: 'string',
} as const;

describe('foreign types in keys', () => {
  const scene = new Scene();
  const queues = new FullQueues(scene);

  test.each(foreignTypes(RIGHT_TYPES))(
    'each call is refused without a change, or works as before: key %s, type %s',
    async (part, type) => {
      for (const [name, call] of Object.entries(CALLS)) {
        const { store, keys, dump } = await queues.copy((redis, { [part]: key }) =>
          FOREIGN_VALUES[type]!(redis.del(key), key),
        );
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
    },
  );

  test('a foreign type in any key is noticed by some call', async () => {
    for (const part of Object.keys(RIGHT_TYPES) as (keyof typeof RIGHT_TYPES)[]) {
      const refusals = await Promise.all(
        Object.values(CALLS).map(async (call) => {
          const { store } = await queues.copy((redis, { [part]: key }) => FOREIGN_VALUES.stream!(redis.del(key), key));
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
