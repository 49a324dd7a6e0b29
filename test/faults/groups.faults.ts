import { describe, expect, test } from '@jest/globals';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import type { GroupOptions } from '../support/of-group.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

const LEASE = 1500;
const GROUPS = 12;
const EACH = 4;

interface Run {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** The runs that the handlers of workers have completed, in the order of their starts. */
function runsOf(workers: readonly WorkerProcess[]): Run[] {
  const ends = workers.flatMap((worker) => worker.of('end'));
  return ends
    .map(({ id, startedAt, endedAt }) => ({ id, from: startedAt, to: endedAt }))
    .sort((a, b) => a.from - b.from);
}

const groupOf = (id: string) => id.split('-')[0]!;

/** Expects the messages of each group to have been handled one after the other, in their order. */
function expectGroups(runs: readonly Run[]): void {
  for (const group of new Set(runs.map(({ id }) => groupOf(id)))) {
    const ofGroup = runs.filter(({ id }) => groupOf(id) === group);
    expect(ofGroup.map(({ id }) => id)).toEqual([...ofGroup.map(({ id }) => id)].sort());
    for (const [i, { from }] of ofGroup.slice(1).entries()) expect(from).toBeGreaterThanOrEqual(ofGroup[i]!.to);
  }
}

describe('groups when processes fail', () => {
  const scene = new Scene();
  const groups: GroupOptions = { concurrency: 1 };

  async function start(queue: string, taskOf: (place: number) => Task) {
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups } } } });
    const offers = Array.from({ length: GROUPS * EACH }, (_, i) => {
      const [group, place] = [`g${i % GROUPS}`, Math.floor(i / GROUPS)];
      return { id: `${group}-${place}`, payload: taskOf(place), delay: place, group };
    });
    await producer.offerMany(queue, offers);
    return producer;
  }

  test('the groups of a killed worker continue in order after the lease, beginning with the messages it held', async () => {
    const queue = scene.newQueue();
    const settings = { queue, handler: { groups, lease: LEASE, concurrency: 64 } };
    const doomed = await scene.startWorker(settings);
    const first: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
    const producer = await start(queue, (place) => (place === 0 ? first : { do: 'work', ms: 5 }));
    await until(() => doomed.of('start').length === GROUPS);
    const other = await scene.startWorker(settings);
    await producer.offer(queue, null, 0, { id: 'free-0', group: 'free' });
    await until(() => other.of('end').length + doomed.of('end').length === 1);
    await doomed.end('SIGKILL');
    await until(() => other.of('end').length >= GROUPS * EACH, { within: 20_000 });

    const runs = runsOf([other]).filter(({ id }) => id !== 'free-0');
    expect(runs).toHaveLength(GROUPS * EACH);
    expectGroups(runs);
    const attempts = new Map(other.of('end').map(({ id, attempt }) => [id, attempt]));
    for (let g = 0; g < GROUPS; g++) expect([attempts.get(`g${g}-0`), attempts.get(`g${g}-1`)]).toEqual([2, 1]);
    await expectNothingLeft(queue);
  });

  test('a message whose worker is killed while its group is paused waits for the end of the pause', async () => {
    const queue = scene.newQueue();
    const settings = { queue, handler: { groups, lease: LEASE } };
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups } } } });
    const first: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
    await producer.offer(queue, first, 0, { id: 'one-0', group: 'one' });
    await producer.offer(queue, { do: 'work', ms: 5 }, 5, { id: 'one-1', group: 'one' });
    const doomed = await scene.startWorker(settings);
    await until(() => doomed.of('start').length === 1);
    await producer.group(queue, 'one').pause();
    await doomed.end('SIGKILL');
    const survivor = await scene.startWorker(settings);
    await producer.offer(queue, { do: 'work', ms: 5 }, 0, { id: 'two-0', group: 'two' });
    await until(() => survivor.of('end').length === 1, { within: 20_000 });
    // The lease has ended once the message waits without a permit.
    await until(
      async () => {
        const { groups: listed } = await producer.groups(queue);
        return listed.some(({ group, waiting, holding }) => group === 'one' && waiting === 2 && holding === 0);
      },
      { within: 20_000 },
    );
    expect(survivor.of('start').map(({ id }) => id)).toEqual(['two-0']);
    await producer.group(queue, 'one').resume();
    await until(() => survivor.of('end').length === 3, { within: 20_000 });
    expect(survivor.of('end').map(({ id, attempt }) => [id, attempt])).toEqual([
      ['two-0', 1],
      ['one-0', 2],
      ['one-1', 1],
    ]);
    await expectNothingLeft(queue);
  });

  test('a group whose message kills its process continues once that message is a dead letter', async () => {
    const queue = scene.newQueue();
    const settings = { queue, handler: { groups, lease: 1000, attempts: 1 } };
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups } } } });
    const poison: Task = { do: 'crash' };
    await producer.offer(queue, poison, 0, { id: 'poison', group: 'one' });
    await producer.offer(queue, null, 5, { id: 'next', group: 'one' });
    const doomed = await scene.startWorker(settings);
    await until(() => doomed.of('start').length === 1, { within: 30_000 });
    await doomed.end('SIGKILL');
    const survivor = await scene.startWorker(settings);
    await until(() => survivor.of('end').length === 1, { within: 30_000 });
    expect(survivor.of('start').map(({ id }) => id)).toEqual(['next']);
    expect((await producer.find(queue, 'poison'))?.state).toBe('dead');
    await until(async () => (await producer.find(queue, 'next')) === null);
  });

  test('groups stay in order while one of two processes loses its leases, and its late outcomes free no permits', async () => {
    const queue = scene.newQueue();
    const handler = { groups, lease: 1000, concurrency: 4 };
    const workers = await Promise.all([scene.startWorker({ queue, handler }), scene.startWorker({ queue, handler })]);
    const frozen: Task = { do: 'block', ms: 3000, firstAttemptOnly: true };
    const producer = await start(queue, (place) => (place === 2 ? { do: 'work', ms: 30 } : { do: 'work', ms: 10 }));
    await producer.offer(queue, frozen, 20, { id: 'frozen-0', group: 'frozen' });
    for (let place = 1; place < 8; place++) {
      await producer.offer(queue, { do: 'work', ms: 300 }, 20 + place, { id: `frozen-${place}`, group: 'frozen' });
    }
    const handled = () => new Set(workers.flatMap((worker) => worker.of('end').map(({ id }) => id)));
    await until(() => handled().size === GROUPS * EACH + 8, { within: 30_000 });
    // The frozen attempt overlaps with the one that took over; all others run alone.
    await until(() => workers.some(({ log }) => log.includes('lease was lost')), { within: 15_000 });
    const lost = new Set(
      workers.flatMap((worker) => worker.of('end').filter(({ attempt }) => attempt > 1)).map(({ id }) => id),
    );
    const runs = runsOf(workers).filter(({ id }) => !lost.has(id));
    expect(lost.has('frozen-0')).toBe(true);
    expectGroups(runs);
    await expectNothingLeft(queue);
  });

  test('a process of a version without groups leaves messages with groups alone', async () => {
    const queue = scene.newQueue();
    const producer = await start(queue, () => null);
    const worker = await scene.startWorker({ queue, handler: { groups, lease: '1h', concurrency: 4 } });
    const hangs: Task = { do: 'hang' };
    await producer.offer(queue, hangs, 0, { id: 'hangs', group: 'one' });
    for (const id of ['waits', 'waits, too']) await producer.offer(queue, null, 5, { id, group: 'one' });
    await until(async () => (await producer.counts(queue)).ready === 2 && worker.of('end').length === GROUPS * EACH);
    await worker.end('SIGKILL');
    await producer.offer(queue, null, '1h', { id: 'later', group: 'one' });

    const before = await groupKeysOf(queue);
    expect(before.size).toBeGreaterThan(5);
    const events = new LoggedEvents();
    const settings = { connection: scene.url, clock: systemClock, events, commandTimeout: 5000, heartbeat: 5000 };
    const connections = new RedisConnections(settings);
    try {
      const limits = { attempts: 1, maxDeadLetters: 1, maxMessages: null };
      const old = new NativeMessageStore(connections, { keys: nativeKeys(scene.prefix, queue), limits });
      expect((await old.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
      await old.offer([{ id: 'plain', due: { at: 1 }, onDuplicate: 'replace', body: 'J1' }]);
      expect(await old.transfer({ limit: 1000 })).toMatchObject({ moved: 1, recovered: 0, ready: 1 });
      const { messages } = await old.claim({ token: 't', limit: 1000, lease: 1000 });
      expect(messages.map(({ id }) => id)).toEqual(['plain']);
      await old.settle([{ claim: { id: 'plain', token: 't' }, outcome: { kind: 'dead', error: '{}' } }]);
      await old.repair(30_000);
      for (const id of ['hangs', 'waits', 'later']) {
        expect([await old.find(id), await old.cancel(id), await old.abort(id)]).toEqual([null, false, false]);
      }
      expect(await old.redrive({ oldest: 1000 })).toBe(1);
      expect(await old.clear()).toBe(1);
    } finally {
      await connections.close();
    }
    expect(await groupKeysOf(queue)).toEqual(before);
    expect(await producer.abort(queue, 'hangs')).toBe(true);
    const next = await scene.startWorker({ queue, handler: { groups } });
    await until(() => next.of('end').length === 2);
    expect(next.of('end').map(({ id }) => id)).toEqual(['waits', 'waits, too']);
  });

  /** The stored values of messages with groups, by key. */
  async function groupKeysOf(queue: string): Promise<Map<string, string>> {
    const keys = (await scene.redis.keys(scene.key(queue, 'lane:*'))).sort();
    const dumps = await Promise.all(keys.map((key) => scene.redis.dumpBuffer(key)));
    return new Map(keys.map((key, i) => [key, dumps[i]!.toString('hex')]));
  }

  async function expectNothingLeft(queue: string): Promise<void> {
    // A token is remembered for ten minutes after another claim has replaced it.
    const isLeft = (key: string) => !/:(wake|ended:.*)$/.test(key);
    await until(async () => [...(await groupKeysOf(queue)).keys()].filter(isLeft).length === 0).catch(() => undefined);
    expect([...(await groupKeysOf(queue)).keys()].filter(isLeft)).toEqual([]);
  }
});
