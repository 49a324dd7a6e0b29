import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { CALLS, CALLS_OF_GROUPS, FullQueues, GROUP_RATES, withoutInstants } from '../faults/full-queue.js';
import type { GroupKeys } from '../../lib/store/native/native-keys.js';
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

const { rate: _rate, partitions: _partitions, ...ofAllMessages } = RIGHT_TYPES;
const RIGHT_TYPES_OF_GROUPS = {
  ...ofAllMessages,
  permits: 'hash',
  backlog: 'list',
  held: 'hash',
} as const;

describe.each([
  ['keys', false, RIGHT_TYPES, CALLS],
  ['keys of groups', true, RIGHT_TYPES_OF_GROUPS, CALLS_OF_GROUPS],
] as const)('foreign types in %s', (_keys, hasGroups, rightTypes, calls) => {
  const scene = new Scene();
  const queues = new FullQueues(scene, { hasGroups });

  // Calls work without a backlog: see below.
  const { backlog: _backlog, ...checked } = rightTypes as Record<keyof GroupKeys, string>;

  test.each(foreignTypes<keyof GroupKeys>(checked as Record<keyof GroupKeys, string>))(
    'make each call fail without changes, or leave it unaffected: key %s, type %s',
    async (part, type) => {
      for (const [name, call] of Object.entries(calls)) {
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
        expect(await scene.redis.type((keys as GroupKeys)[part])).toBe(type);
      }
    },
  );

  test('are noticed by at least one call, whatever the key', async () => {
    for (const part of Object.keys(rightTypes) as (keyof GroupKeys)[]) {
      const refusals = await Promise.all(
        Object.values(calls).map(async (call) => {
          const { store } = await queues.copy((redis, { [part]: key }) => FOREIGN_VALUES.stream!(redis.del(key), key));
          return refusalOf(call(store));
        }),
      );
      expect([part, refusals.some(Boolean)]).toEqual([part, true]);
    }
  });
});

describe('a foreign type in the key of a group’s rate', () => {
  const scene = new Scene();
  const groupRate = GROUP_RATES['a group that has used up its rate'];
  const queues = new FullQueues(scene, { hasGroups: true, groupRate });

  test.each(foreignTypes<'rates'>({ rates: 'string' }))(
    'counts as no claims, and is replaced: key %s, type %s',
    async (_part, type) => {
      const { store, redis, keys } = await queues.copy((pipeline, { rates }) =>
        FOREIGN_VALUES[type]!(pipeline.del(rates), rates),
      );
      const { messages } = await store.claim({ token: 'new', limit: 10, lease: 60_000 });
      expect(messages.map(({ id }) => id)).toEqual(['ready', 'in line']);
      expect(await redis.type((keys as GroupKeys).rates)).toBe('string');
    },
  );
});

describe('a foreign type in the key of a backlog', () => {
  const scene = new Scene();
  const queues = new FullQueues(scene, { hasGroups: true });

  test.each(foreignTypes<'backlog'>({ backlog: 'list' }))(
    'does not block any message: key %s, type %s',
    async (_part, type) => {
      const { store } = await queues.copy((redis, { backlog }) => FOREIGN_VALUES[type]!(redis.del(backlog), backlog));
      const handle = async (round: string): Promise<string[]> => {
        const handled: string[] = [];
        for (let i = 0; i < 5; i++) {
          const token = `${round} ${i}`;
          const { messages } = await store.claim({ token, limit: 10, lease: 60_000 });
          await store.settle(messages.map(({ id }) => ({ claim: { id, token }, outcome: { kind: 'ack' } })));
          handled.push(...messages.map(({ id }) => id));
        }
        return handled.sort();
      };
      await store.cancel('held');
      await store.transfer({ limit: 10 });
      expect(await handle('before the repair')).toEqual(['due', 'expired', 'ready']);
      await store.repair(30_000);
      expect(await handle('after the repair')).toEqual(['in line']);
    },
  );
});

describe('a foreign type in a key', () => {
  const scene = new Scene();

  test("makes the producer's calls fail without changes, with errors that mention the prefix", async () => {
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
