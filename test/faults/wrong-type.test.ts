import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { NativeMessageStore } from '../../lib/store/native/native.store.js';
import { nativeKeys } from '../../lib/store/native/native.keys.js';
import { RedisConnections } from '../../lib/store/redis/redis-connections.js';
import { systemClock } from '../../lib/clock.js';
import { QuietLogger } from '../support/quiet-logger.js';
import { Scene } from '../support/scene.js';

type Call = (store: NativeMessageStore, lease: { id: string; token: string }) => Promise<unknown>;

const CALLS: Record<string, Call> = {
  offer: (store) => store.offer([{ id: 'new', due: { after: 0 }, onDuplicate: 'keep', body: 'J1' }]),
  'offer, replacing an active one': (store) =>
    store.offer([{ id: 'active', due: { after: 0 }, onDuplicate: 'replace', body: 'J1' }]),
  'offer, replacing a dead one': (store) =>
    store.offer([{ id: 'dead', due: { after: 0 }, onDuplicate: 'replace', body: 'J1' }]),
  'offer, replacing a ready one': (store) =>
    store.offer([{ id: 'ready', due: { after: 0 }, onDuplicate: 'replace', body: 'J1' }]),
  cancel: (store) => store.cancel('delayed'),
  reschedule: (store) => store.reschedule('delayed', { after: 5 }),
  find: (store) => store.find('active'),
  transfer: (store) => store.transfer({ scheduler: 's', limit: 10 }),
  claim: (store) => store.claim({ token: 'new', limit: 10, lease: 1000 }),
  'claim of nothing': (store) => store.claim({ token: 'new', limit: 0, lease: 0 }),
  extend: (store, claim) => store.extend([claim], 5000),
  'settle: ack': (store, claim) => store.settle([{ claim, outcome: { kind: 'ack' } }]),
  'settle: retry': (store, claim) => store.settle([{ claim, outcome: { kind: 'retry', delay: 5 } }]),
  'settle: dead': (store, claim) => store.settle([{ claim, outcome: { kind: 'dead', error: '{}' } }]),
  status: (store) => store.status(),
  pause: (store) => store.pause(),
  resume: (store) => store.resume(),
  clear: (store) => store.clear(),
  'claim, repeated': (store, { token }) => store.claim({ token, limit: 10, lease: 1000, repeated: true }),
  listDead: (store) => store.listDead({ cursor: undefined, limit: 10 }),
  redrive: (store) => store.redrive({ id: 'dead' }),
  discard: (store) => store.discard({ oldest: 10 }),
};

const KEYS = [
  'delayed',
  'messages',
  'ready',
  'active',
  'claims',
  'attempts',
  'dead',
  'errors',
  'wake',
  'mover',
  'paused',
] as const;

describe('a key of the queue holds something of another type', () => {
  const scene = new Scene();

  /** A store whose queue has a message in every state, one of them with an expired lease. */
  async function fullQueue() {
    const queue = scene.newQueue();
    const connections = new RedisConnections({
      connection: scene.url,
      clock: systemClock,
      logger: new QuietLogger(),
      commandTimeout: 5000,
      heartbeat: 60_000,
    });
    const limits = { attempts: 2, maxDeadLetters: 1, maxMessages: 100 };
    const store = new NativeMessageStore(connections, { prefix: scene.prefix, queue, limits });
    const make = async (id: string, at: number) => {
      await store.offer([{ id, due: { at }, onDuplicate: 'keep', body: 'J1' }]);
      if (at === 0) await store.transfer({ scheduler: 's', limit: 10 });
    };
    const claim = (token: string, lease: number) => store.claim({ token, limit: 1, lease });
    await make('dead', 0);
    await claim('t1', 60_000);
    await store.settle([{ claim: { id: 'dead', token: 't1' }, outcome: { kind: 'dead', error: '{}' } }]);
    await make('active', 0);
    await claim('t2', 60_000);
    await make('expired', 0);
    await claim('t3', 0);
    await make('ready', 0);
    await make('due', 1);
    await make('delayed', 9e12);
    return { store, connections, keys: nativeKeys(scene.prefix, queue), lease: { id: 'active', token: 't2' } };
  }

  const dumps = async (keys: readonly string[]) =>
    Promise.all(keys.map(async (key) => (await scene.redis.dumpBuffer(key))?.toString('latin1') ?? null));

  test.each(KEYS)(
    'with a foreign %s, each call is done whole, or refused without a change',
    async (part) => {
      for (const [name, call] of Object.entries(CALLS)) {
        const { store, connections, keys, lease } = await fullQueue();
        const foreign = keys[part];
        await scene.redis.del(foreign);
        if (part === 'mover' || part === 'paused') await scene.redis.hset(foreign, 'foreign', 'value');
        else await scene.redis.set(foreign, 'foreign');
        const all = Object.values(keys);
        const before = await dumps(all);

        const error: unknown = await call(store, lease).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        await connections.close();
        if (error === undefined) {
          // It has nothing to do with the key.
          expect([name, ...(await dumps([foreign]))]).toEqual([name, before[all.indexOf(foreign)]]);
          continue;
        }
        expect([name, error]).toMatchObject([name, { name: 'DelayQueueError', code: 'STORE_REFUSED' }]);
        expect((error as Error).message).toContain('WRONGTYPE');
        expect([name, ...(await dumps(all))]).toEqual([name, ...before]);
      }
    },
    20_000,
  );

  test('the producer tells what to do about it', async () => {
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
