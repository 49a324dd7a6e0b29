import { describe, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClaimedMessage, Outcome } from '../../lib/store/consumer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { dumpAll, effectsOf, recover, replay, WITH_LOG } from '../support/redis/torn-log.js';
import { Scene } from '../support/scene.js';
import {
  CALLS,
  CALLS_KEEPING_IDS,
  CALLS_OF_GROUPS,
  CLAIMS_OF_GROUPS,
  FULL_QUEUE_IDS,
  type FullQueue,
  FullQueues,
  GROUP_RATES,
  HELD,
} from './full-queue.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FAR = 9e12;

const settleHeld = (outcome: Outcome) => (store: MessageStore) => store.settle([{ claim: HELD, outcome }]);

/** Paths that a call of a full queue does not take, and that write in another order. */
const FURTHER: typeof CALLS = {
  abort: (store) => store.abort('active'),
  'abort a followed message': (store) => store.abort('followed'),
  change: async (store) => {
    const { body } = (await store.find('delayed'))!;
    return store.change!('delayed', { due: { at: FAR + 1 }, from: body, to: 'J4' });
  },
  'settle: again with another body': settleHeld({ kind: 'again', delay: MINUTE, body: 'J5' }),
  'settle: dead with another body': settleHeld({ kind: 'dead', error: '{}', body: 'J5' }),
};

/** The messages that a call removes. */
const REMOVED: Record<string, readonly string[]> = {
  cancel: ['delayed'],
  'cancel a held message': ['held'],
  'settle: ack': ['active'],
  'settle: ack, with its group': ['active'],
  abort: ['active'],
  'discard one': ['dead'],
  'discard the oldest': ['dead'],
};

/** The calls that remove or replace a follower. */
const WITHOUT_FOLLOWER = ['cancel a follower', 'offer, replace a followed message'];

/** Describes the messages that are neither in a state that continues by itself nor removed on purpose. */
async function problemsOf(
  { redis, store, keys }: FullQueue,
  { name, ids, handled }: { name: string; ids: readonly string[]; handled: readonly ClaimedMessage[] },
): Promise<string[]> {
  const problems: string[] = [];
  const states = new Map<string, string>();
  for (const state of ['delayed', 'ready', 'active', 'dead'] as const) {
    for (const { id, leasedUntil } of (await store.list({ state, limit: 1000 })).messages) {
      states.set(id, state);
      if (state === 'ready') problems.push(`${id} stays ready`);
      if (state === 'active' && !leasedUntil) problems.push(`${id} is active without a lease`);
    }
  }
  for (const id of new Set([...ids, 'new'])) {
    const isStored = (await store.find(id)) !== null;
    if (isStored && !states.has(id)) problems.push(`${id} is in no state`);
    const isAccountedFor = isStored || handled.some((one) => one.id === id) || REMOVED[name]?.includes(id);
    if (ids.includes(id) && !isAccountedFor) problems.push(`${id} is lost`);
  }
  if (WITHOUT_FOLLOWER.includes(name)) return problems;
  const follower = await redis.hget(keys.followers, 'followed');
  const bodies = [follower, (await store.find('followed'))?.body, ...handled.map(({ body }) => body)];
  if (!bodies.some((body) => body?.toString().endsWith('J3'))) problems.push('the follower is lost');
  return problems;
}

const IDS_WITH_GROUPS = [...FULL_QUEUE_IDS, 'held', 'in line'];

type FullQueueCalls = [string, ConstructorParameters<typeof FullQueues>[1], typeof CALLS, readonly string[]];

describe.each<FullQueueCalls>([
  ['a message in every state', {}, { ...CALLS, ...FURTHER }, FULL_QUEUE_IDS],
  ['messages of a group', { hasGroups: true }, { ...CALLS_OF_GROUPS, ...FURTHER }, IDS_WITH_GROUPS],
  ...Object.entries(GROUP_RATES).map(([name, groupRate]): FullQueueCalls => {
    return [name, { hasGroups: true, groupRate }, CLAIMS_OF_GROUPS, IDS_WITH_GROUPS];
  }),
])('a script that ends between two of its writes, in a queue with %s', (_, options, calls, ids) => {
  const dir = mkdtempSync(join(tmpdir(), 'torn-scripts-'));
  const scene = new Scene({ args: WITH_LOG, dir });
  // With these limits, a message whose lease expires becomes a dead letter.
  const queues = new FullQueues(scene, { ...options, limits: { attempts: 2 } });

  const NOT_TORN = ['clear', 'pause', 'pause the group', 'resume', 'repair'];
  test.each(Object.keys(calls).filter((name) => !NOT_TORN.includes(name)))(
    'neither loses a message nor keeps one forever: %s',
    async (name) => {
      await scene.redis.flushall();
      const queue = await queues.copy();
      const before = await dumpAll(scene.redis);
      const effects = await effectsOf(dir, () => calls[name]!(queue.store));
      const problems: string[] = [];
      for (let count = 1; count < effects.length; count++) {
        await replay(scene.redis, before, effects.slice(0, count));
        const handled = await recover(queue.store);
        const found = await problemsOf(queue, { name, ids, handled });
        const done = effects
          .slice(0, count)
          .map(({ command, args }) => `${command} ${String(args[0]).split(':').at(-1)}`);
        problems.push(...found.map((problem) => `${done.join(', ')}: ${problem}`));
      }
      expect(problems).toEqual([]);
    },
  );
});

describe.each([false, true])(
  'a script that keeps ids and ends between two of its writes, with groups: %s',
  (hasGroups) => {
    const dir = mkdtempSync(join(tmpdir(), 'torn-ids-'));
    const scene = new Scene({ args: WITH_LOG, dir });
    const queues = new FullQueues(scene, { hasGroups, limits: { idsFor: { for: HOUR, max: 1 } } });

    test.each(Object.keys(CALLS_KEEPING_IDS).filter((name) => name.startsWith('settle')))(
      'leaves the message, or its id is kept: %s',
      async (name) => {
        await scene.redis.flushall();
        const { redis, store, keys } = await queues.copy();
        const before = await dumpAll(redis);
        const effects = await effectsOf(dir, () => CALLS_KEEPING_IDS[name]!(store));
        expect(effects.length).toBeGreaterThan(2);
        for (let count = 1; count <= effects.length; count++) {
          await replay(redis, before, effects.slice(0, count));
          const found = await redis.hexists(keys.messages, HELD.id);
          const isKept = (await redis.zscore(keys.kept, HELD.id)) !== null;
          expect([count, found === 1 || isKept]).toEqual([count, true]);
        }
      },
    );
  },
);

describe('a pause of a repetition that ends between two of its writes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'torn-pauses-'));
  const scene = new Scene({ args: WITH_LOG, dir });
  const queues = new FullQueues(scene);
  const offer = (cron: string) => ({
    ...{ id: 'r', due: { at: FAR }, onDuplicate: 'repeat' as const },
    body: `Nrepeat\n{"cron":"${cron}","timeZone":"UTC","missed":"once"}\nJ1`,
  });
  const resume = async (store: MessageStore) => {
    const { body } = (await store.find('r'))!;
    return store.pauseRepeat!('r', { resume: { at: FAR, from: body } });
  };

  test.each<[string, (store: MessageStore) => Promise<unknown>, (store: MessageStore) => Promise<unknown>]>([
    ['pause', () => Promise.resolve(), (store) => store.pauseRepeat!('r', {})],
    ['resume', (store) => store.pauseRepeat!('r', {}), resume],
    ['a new rule', (store) => store.pauseRepeat!('r', {}), (store) => store.offer([offer('1 * * * *')])],
  ])('leaves no message that is neither paused nor falls due: %s', async (_, prepare, call) => {
    await scene.redis.flushall();
    const { redis, store, keys } = await queues.copy();
    await store.offer([offer('* * * * *')]);
    await prepare(store);
    const before = await dumpAll(redis);
    const effects = await effectsOf(dir, () => call(store));
    expect(effects.length).toBeGreaterThan(1);
    for (let count = 1; count <= effects.length; count++) {
      await replay(redis, before, effects.slice(0, count));
      const [record, score] = [await redis.hget(keys.messages, 'r'), await redis.zscore(keys.delayed, 'r')];
      const comes = Number(score) <= FAR || record!.includes('paused');
      expect([count, comes]).toEqual([count, true]);
    }
  });
});
