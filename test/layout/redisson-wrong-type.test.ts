import { describe, expect, test } from '@jest/globals';
import type { ChainableCommander } from 'ioredis';
import type { MessageStore, Outcome } from '../../lib/store/message-store.js';
import { type RedissonTestQueue, redissonQueues } from './redisson-queue.js';

const HOUR = 3_600_000;
const FAR = 9e12;
const HELD = { id: 'active', token: 'of active' };

/** How somebody else's value gets there. */
const VALUES: Record<string, (redis: ChainableCommander, key: string) => unknown> = {
  string: (redis, key) => redis.set(key, 'garbage'),
  list: (redis, key) => redis.rpush(key, 'a', 'delayed'),
  zset: (redis, key) => redis.zadd(key, 1, 'a', 2, 'delayed'),
  hash: (redis, key) => redis.hset(key, { a: '1', delayed: 'x' }),
};

const RIGHT_TYPES = {
  target: 'list',
  timeouts: 'zset',
  entries: 'list',
  offered: 'zset',
  values: 'zset',
  sequence: 'string',
} as const;

const CASES = Object.entries(RIGHT_TYPES).flatMap(([part, rightType]) =>
  Object.keys(VALUES)
    .filter((type) => type !== rightType)
    .map((type) => [part as keyof typeof RIGHT_TYPES, type] as const),
);

const offer = (id: string, onDuplicate: 'replace' | 'reject') => (store: MessageStore) =>
  store.offer([{ id, due: { at: FAR }, onDuplicate, body: 'new' }]);
const settle = (outcome: Outcome) => (store: MessageStore) => store.settle([{ claim: HELD, outcome }]);

/** Every script of the layout, and those of the native bookkeeping behind it. */
const CALLS: Record<string, (store: RedissonTestQueue['store']) => Promise<unknown>> = {
  'offer of a new one': offer('new', 'reject'),
  'offer, replacing a delayed one': offer('delayed', 'replace'),
  'offer, replacing a ready one': offer('ready', 'replace'),
  'offer, replacing an active one': offer('active', 'replace'),
  cancel: (store) => store.cancel('delayed'),
  reschedule: (store) => store.reschedule('delayed', { at: FAR + 1 }),
  'find a delayed one': (store) => store.find('delayed'),
  'find a ready one': (store) => store.find('ready'),
  transfer: (store) => store.transfer({ scheduler: 's', limit: 10 }),
  claim: (store) => store.claim({ token: 'new', limit: 10, lease: HOUR }),
  'claim in the place of another one': (store) =>
    store.claim({ token: 'new', insteadOf: HELD.token, limit: 10, lease: HOUR }),
  'settle: retry': settle({ kind: 'retry', delay: HOUR }),
  status: (store) => store.status(),
  resume: (store) => store.resume(),
  clear: (store) => store.clear(),
  'count values': (store) => store.delayedValues.count(),
  'list values': (store) => store.delayedValues.list(),
  'contain a value': (store) => store.delayedValues.contains('of delayed'),
  'remove a value': (store) => store.delayedValues.remove('of delayed'),
  'take the first value': (store) => store.delayedValues.takeFirst(),
};

describe('with something else in a key, a call on a queue of Redisson', () => {
  const open = redissonQueues();

  /** One message in each state, one due, and one lease that has ended. */
  async function fill(): Promise<RedissonTestQueue> {
    const queue = open();
    const past = Date.now() - HOUR;
    await queue.offer({ expired: { at: past, value: 'of expired' } });
    await queue.transfer();
    await queue.store.claim({ token: 'gone', limit: 1, lease: 0 });
    await queue.offer({ active: { at: past, value: 'of active' } });
    // Only what is due in Redisson's structures: the expired lease is left for the call under test.
    await queue.redis.rpush(queue.keys.target, 'of active');
    await queue.redis.zrem(queue.keys.timeouts, ...(await queue.redis.zrangeBuffer(queue.keys.timeouts, 0, '-1')));
    await queue.redis.del(queue.keys.entries);
    await queue.store.claim({ token: HELD.token, limit: 1, lease: HOUR });
    await queue.offer({ ready: { at: past, value: 'of ready' } });
    await queue.redis.rpush(queue.keys.target, 'of ready');
    await queue.redis.del(queue.keys.timeouts, queue.keys.entries);
    await queue.offer({ due: { at: past, value: 'of due' }, delayed: { at: FAR, value: 'of delayed' } });
    await queue.offerAsJava('of Java', past);
    return queue;
  }

  async function dump({ redis, name }: RedissonTestQueue): Promise<Record<string, string | undefined>> {
    const keys = (await redis.keys(`*${name}*`)).sort();
    const bytes = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    return Object.fromEntries(keys.map((key, i) => [key, bytes[i]?.toString('hex')]));
  }

  test.each(CASES)(
    'in %s, a %s: fails with a typed error and changes nothing, or leaves that key alone',
    async (part, type) => {
      let refusals = 0;
      for (const [name, call] of Object.entries(CALLS)) {
        const queue = await fill();
        const key = queue.keys[part];
        const pipeline = queue.redis.multi().del(key);
        VALUES[type]!(pipeline, key);
        await pipeline.exec();
        const before = await dump(queue);
        const refusal: unknown = await call(queue.store).then(
          () => undefined,
          (error: unknown) => error,
        );
        const after = await dump(queue);
        if (refusal === undefined) {
          expect({ name, [key]: after[key] }).toEqual({ name, [key]: before[key] });
        } else {
          refusals++;
          expect({ name, refusal }).toMatchObject({ name, refusal: { code: 'STORE_REFUSED' } });
          expect({ name, after }).toEqual({ name, after: before });
        }
      }
      expect(refusals).toBeGreaterThan(0);
    },
  );

  test.each(['target', 'values'] as const)(
    'in %s: an offer of what Java removed before it was due fails and changes nothing',
    async (part) => {
      const queue = open();
      await queue.offer({ removed: { at: FAR, value: 'of removed' } });
      await queue.redis.del(queue.keys.timeouts, queue.keys.entries);
      await queue.redis.set(queue.keys[part], 'garbage');
      const before = await dump(queue);
      await expect(offer('removed', 'reject')(queue.store)).rejects.toMatchObject({ code: 'STORE_REFUSED' });
      expect(await dump(queue)).toEqual(before);
    },
  );
});
