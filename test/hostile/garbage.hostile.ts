import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ChainableCommander } from 'ioredis';
import type { MessageStore } from '../../lib/store/message-store.js';
import type { NativeKeys } from '../../lib/store/native/native-keys.js';
import { Scene } from '../support/scene.js';
import { CALLS, FULL_QUEUE_IDS, FullQueues, HELD } from '../faults/full-queue.js';
import { refusalOf } from '../support/refusal.js';

type Damage = (redis: ChainableCommander, keys: NativeKeys) => unknown;

const ALL_IDS = [...FULL_QUEUE_IDS, 'new'];

/** Damage to one message. */
const OF_A_MESSAGE: Record<string, (id: string) => Damage> = {
  'a missing record': (id) => (redis, keys) => redis.hdel(keys.messages, id),
  'a record that is too short': (id) => (redis, keys) => redis.hset(keys.messages, id, 'short'),
  'a word as the number of attempts': (id) => (redis, keys) => redis.hset(keys.attempts, id, 'word'),
  'a fraction as the number of attempts': (id) => (redis, keys) => redis.hset(keys.attempts, id, '1.5'),
  'a second entry in the ready list': (id) => (redis, keys) => redis.rpush(keys.ready, id),
};

/** Damage that belongs to no message, or to the queue as a whole. */
const OF_THE_QUEUE: Record<string, Damage> = {
  'a record of an unknown message': (redis, keys) => redis.hset(keys.messages, 'ghost', 'short'),
  'attempts of an unknown message': (redis, keys) => redis.hset(keys.attempts, 'ghost', 'word'),
  'a claim of an unknown token': (redis, keys) => redis.hset(keys.claims, 'ghost', 'nothing'),
  'an error of an unknown message': (redis, keys) => redis.hset(keys.errors, 'ghost', 'word'),
  'an unknown message in delayed': (redis, keys) => redis.zadd(keys.delayed, '-inf', 'ghost', 'inf', 'other'),
  'an unknown message that is never due': (redis, keys) => redis.zadd(keys.delayed, '1e300', 'ghost'),
  'a lease of an unknown token': (redis, keys) => redis.zadd(keys.leases, '-inf', 'ghost', 'inf', 'other'),
  'a lease that ends between milliseconds': (redis, keys) => redis.zadd(keys.leases, '9000000000000.5', HELD.token),
  'many unknown messages in ready': (redis, keys) =>
    redis.rpush(keys.ready, ...Array.from({ length: 30 }, (_, index) => `ghost ${index}`)),
  'several wake-up signals': (redis, keys) => redis.rpush(keys.wake, '1', 'word', ''),
  'a missing wake-up signal': (redis, keys) => redis.del(keys.wake),
  "a word as the queue's rate": (redis, keys) => redis.set(keys.rate, 'word'),
};

describe('garbage in the keys of a queue', () => {
  const scene = new Scene();
  const queues = new FullQueues(scene);
  /** The states of an intact queue's messages after each call. */
  const statesAfter: Record<string, Record<string, string>> = {};

  const statesOf = async (ids: readonly string[], store: MessageStore): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(ids.map(async (id) => [id, (await store.find(id))?.state ?? 'gone'] as const)),
    );

  beforeAll(async () => {
    for (const [name, call] of Object.entries(CALLS)) {
      const { store } = await queues.copy();
      await call(store);
      statesAfter[name] = await statesOf(ALL_IDS, store);
    }
  });

  /** Expects each call to be refused without a change, or to treat all other messages as in an intact queue. */
  async function expectNoHarm(damage: Damage, damaged = '') {
    for (const [name, call] of Object.entries(CALLS)) {
      const { store, dump } = await queues.copy(damage);
      const before = await dump();
      const refusal = await refusalOf(call(store));
      if (refusal !== undefined) {
        expect([name, refusal]).toMatchObject([name, { name: 'DelayQueueError', code: 'STORE_REFUSED' }]);
        expect([name, await dump()]).toEqual([name, before]);
        continue;
      }
      const others = ALL_IDS.filter((id) => id !== damaged);
      const expected = Object.fromEntries(others.map((id) => [id, statesAfter[name]?.[id]]));
      expect([name, await statesOf(others, store)]).toEqual([name, expected]);
    }
  }

  describe.each(FULL_QUEUE_IDS)("in the message '%s'", (id) => {
    test.each(Object.entries(OF_A_MESSAGE))('other messages are not harmed by %s', async (_name, damage) => {
      await expectNoHarm(damage(id), id);
    });
  });

  test.each(Object.entries(OF_THE_QUEUE))('no message is harmed by %s', async (_name, damage) => {
    await expectNoHarm(damage);
  });

  test.each(['ready', 'due', 'expired'])(
    'the %s message is reported by a claim and removed if it has no record',
    async (id) => {
      const { store, keys } = await queues.copy((redis, { messages }) => redis.hdel(messages, id));
      await store.transfer({ limit: 10 });
      const { messages, orphans } = await store.claim({ token: 'new', limit: 10, lease: 1000 });
      expect(orphans).toEqual([id]);
      expect(messages.map((message) => message.id).sort()).toEqual(
        ['due', 'expired', 'ready'].filter((it) => it !== id),
      );
      expect((await store.status()).counts.ready).toBe(0);
      expect(await scene.redis.hget(keys.claims, 'new')).not.toContain(id);
    },
  );

  test('a dead letter without a record is removed instead of redriven', async () => {
    const damage: Damage = (redis, { messages }) => redis.hdel(messages, 'dead');
    const [driven, discarded] = [await queues.copy(damage), await queues.copy(damage)];
    expect(await driven.store.redrive({ oldest: 10 })).toBe(0);
    expect(await discarded.store.discard({ oldest: 10 })).toBe(1);
    for (const { store } of [driven, discarded]) {
      expect((await store.status()).counts).toMatchObject({ delayed: 2, dead: 0 });
    }
  });

  test.each([{ kind: 'ack' }, { kind: 'retry', delay: 1 }, { kind: 'defer', delay: 1 }] as const)(
    'an active message without a record is removed by the outcome $kind',
    async (outcome) => {
      const { store } = await queues.copy((redis, { messages }) => redis.hdel(messages, 'active'));
      const { delayed, active } = (await store.status()).counts;
      expect(await store.settle([{ claim: HELD, outcome }])).toMatchObject({ accepted: [true] });
      expect((await store.status()).counts).toMatchObject({ delayed, active: active - 1 });
    },
  );

  test('a message that is both active and ready can be claimed twice, and is gone once one claim acknowledges it', async () => {
    const { store } = await queues.copy((redis, { ready }) => redis.lpush(ready, 'active'));
    const { delayed, active } = (await store.status()).counts;
    const { messages } = await store.claim({ token: 'new', limit: 1, lease: 1000 });
    expect(messages).toMatchObject([{ id: 'active' }]);
    expect(await store.settle([{ claim: HELD, outcome: { kind: 'ack' } }])).toMatchObject({ accepted: [true] });
    expect(await store.find('active')).toBeNull();
    const claim = { id: 'active', token: 'new' };
    expect(await store.settle([{ claim, outcome: { kind: 'retry', delay: 1 } }])).toMatchObject({ accepted: [true] });
    expect(await store.find('active')).toBeNull();
    expect((await store.status()).counts).toMatchObject({ delayed, active: active - 1 });
  });

  test('a queue with surplus wake-up signals gets no more, and claiming the last ready message removes them', async () => {
    const { store, keys } = await queues.copy((redis, { wake }) => redis.rpush(wake, '1', 'word'));
    const tokens = await scene.redis.llen(keys.wake);
    await store.transfer({ limit: 10 });
    await store.claim({ token: 'one', limit: 1, lease: 1000 });
    await store.resume();
    expect(await scene.redis.llen(keys.wake)).toBe(tokens);
    await store.claim({ token: 'all', limit: 10, lease: 1000 });
    expect(await scene.redis.llen(keys.wake)).toBe(0);
  });

  test('any string in the pause key pauses the queue until it is resumed', async () => {
    const { store } = await queues.copy((redis, { paused }) => redis.set(paused, 'word'));
    expect(await store.status()).toMatchObject({ paused: true });
    expect(await store.claim({ token: 'new', limit: 10, lease: 1000 })).toMatchObject({ messages: [] });
    await store.resume();
    expect(await store.claim({ token: 'new', limit: 10, lease: 1000 })).toMatchObject({ messages: [{ id: 'ready' }] });
  });
});
