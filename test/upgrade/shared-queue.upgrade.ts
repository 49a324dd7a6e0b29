import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { DelayQueueModuleOptions, QueueHandlerOptions } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import { earlierBuild } from './earlier-build.js';
import { Peer } from './peer.js';

const LIB = { earlier: earlierBuild(), present: fileURLToPath(new URL('../../lib', import.meta.url)) };
type Build = keyof typeof LIB;

/** The length of a lease, ms. */
const LEASE = 2000;

const HANDLER: QueueHandlerOptions = { lease: LEASE, attempts: 3, backoff: { type: 'fixed', delay: 300 } };

describe.each<{ one: Build; other: Build }>([
  { one: 'earlier', other: 'present' },
  { one: 'present', other: 'earlier' },
])('a queue shared by a process of the $one build and one of the $other build', ({ one, other }) => {
  const scene = new Scene({});
  const peers: Peer[] = [];
  let queue: string;

  beforeEach(() => {
    queue = scene.newQueue();
  });

  afterEach(async () => {
    await Promise.all(peers.splice(0).map((peer) => peer.end('SIGKILL')));
  });

  interface Options {
    readonly handler?: QueueHandlerOptions | 'none';
    readonly options?: NonNullable<DelayQueueModuleOptions['defaults']>;
  }

  async function start(build: Build, { handler = HANDLER, options = {} }: Options = {}): Promise<Peer> {
    const module = { connection: scene.url, prefix: scene.prefix, offerTimeout: '30s', defaults: options } as const;
    const peer = await Peer.start({
      lib: LIB[build],
      module,
      queue,
      handler: handler === 'none' ? undefined : handler,
    });
    peers.push(peer);
    return peer;
  }

  /** One that only offers, and one that only handles. */
  const startBoth = (options: Options = {}) =>
    Promise.all([start(one, { ...options, handler: 'none' }), start(other, options)]);

  const untilEmpty = (peer: Peer, dead = 0) =>
    until(async () => {
      const counts = await peer.call('counts');
      return JSON.stringify(counts) === JSON.stringify({ delayed: 0, ready: 0, active: 0, dead });
    });

  test('lets the second process handle the offers of the first, unchanged', async () => {
    const [offering, handling] = await startBoth();
    await offering.call('offer', { do: 'nothing' }, 20, { id: 'a', headers: { tenant: 'acme' } });
    await offering.call(
      'offerMany',
      [1, 2, 3].map((n) => ({ id: `m${n}`, payload: { do: 'nothing', n }, delay: 0 })),
    );
    await untilEmpty(offering);
    expect(handling.starts.map(({ id }) => id).sort()).toEqual(['a', 'm1', 'm2', 'm3']);
    expect(handling.startsOf('a')[0]).toMatchObject({
      attempt: 1,
      payload: { do: 'nothing' },
      headers: { tenant: 'acme' },
    });
  });

  test('lets the second process find, change, reschedule and cancel the offers of the first', async () => {
    const [first, second] = await startBoth();
    for (const id of ['gone', 'sooner', 'changed', 'replaced'])
      await first.call('offer', { do: 'nothing' }, '1h', { id });
    expect(await second.call('find', 'gone')).toMatchObject({ state: 'delayed', payload: { do: 'nothing' } });
    expect(await second.call('cancel', 'gone')).toBe(true);
    expect(await second.call('reschedule', 'sooner', 0)).toBe(true);
    expect(await second.call('reschedule', 'changed', 0, { payload: { do: 'nothing', new: true } })).toBe(true);
    await second.call('offer', { do: 'nothing', new: true }, 0, { id: 'replaced', onDuplicate: 'replace' });
    expect(await first.call('find', 'gone')).toBeNull();
    await untilEmpty(first);
    expect(second.starts.map(({ id }) => id).sort()).toEqual(['changed', 'replaced', 'sooner']);
    for (const id of ['changed', 'replaced']) expect(second.startsOf(id)[0]).toMatchObject({ payload: { new: true } });
  });

  test('lets the second process retry an attempt that failed in the first', async () => {
    const failing = await start(one, { handler: { ...HANDLER, backoff: { type: 'fixed', delay: 2000 } } });
    const next = await start(other, { handler: 'none' });
    await failing.call('offer', { do: 'fail-once' }, 0, { id: 'a' });
    await until(
      async () => ((await next.call('find', 'a')) as { failedAttempts: number } | null)?.failedAttempts === 1,
    );
    await failing.end('SIGTERM');
    const handling = await start(other);
    await untilEmpty(next);
    expect(handling.startsOf('a').map(({ attempt }) => attempt)).toEqual([2]);
  });

  test('lets the first process list, redrive and discard the dead letters of the second', async () => {
    const [first, second] = await startBoth({ handler: { ...HANDLER, attempts: 1 } });
    for (const id of ['a', 'b']) await first.call('offer', { do: 'fail' }, 0, { id });
    await untilEmpty(first, 2);
    const page = (await first.callDead('list')) as { messages: { id: string; error: { message: string } }[] };
    expect(page.messages.map(({ error }) => error.message)).toEqual(['as told', 'as told']);
    expect(await first.callDead('redrive', 'a')).toBe(true);
    await until(() => second.startsOf('a').length === 2);
    expect(await first.callDead('discard', 'b')).toBe(true);
    await untilEmpty(first, 1);
  });

  test('lets the second process handle the messages that the first held when it was killed', async () => {
    const dying = await start(one);
    await dying.call('offer', { do: 'hang' }, 0, { id: 'a' });
    await until(() => dying.startsOf('a').length === 1);
    const next = await start(other);
    await dying.end('SIGKILL');
    await until(() => next.startsOf('a').length === 1, { within: 10 * LEASE });
    expect(next.startsOf('a')[0]).toMatchObject({ attempt: 2 });
    expect(await next.call('find', 'a')).toMatchObject({ state: 'active', failedAttempts: 1 });
  });

  test('lets the first process abort the messages that the second handles', async () => {
    const [first, second] = await startBoth();
    await first.call('offer', { do: 'hang' }, 0, { id: 'a' });
    await until(() => second.startsOf('a').length === 1);
    expect(await first.call('abort', 'a')).toBe(true);
    await untilEmpty(first);
  });

  test('makes a follower from the first process wait until the second has handled the active message', async () => {
    const [offering, handling] = await startBoth();
    await offering.call('offer', { do: 'work', ms: 700 }, 0, { id: 'a' });
    await until(() => handling.startsOf('a').length === 1);
    await offering.call('offer', { do: 'nothing', follows: true }, 0, { id: 'a', onDuplicate: 'follow' });
    await untilEmpty(offering);
    const events = handling.events.map(({ event, payload }) => [event, (payload as { do: string }).do]);
    expect(events).toEqual([
      ...[
        ['start', 'work'],
        ['end', 'work'],
      ],
      ...[
        ['start', 'nothing'],
        ['end', 'nothing'],
      ],
    ]);
  });

  test('lets both processes handle the messages of a group, one at a time and in order', async () => {
    const options: Options = { options: { groups: { concurrency: 1 } }, handler: { ...HANDLER, concurrency: 2 } };
    const both = [await start(one, options), await start(other, options)];
    const groups = ['g', 'h', 'i', 'j'];
    const count = 12;
    for (let n = 0; n < count; n++) {
      for (const group of groups) {
        const task = { do: n === 1 ? 'fail-once' : 'work', ms: 20, group, n };
        await both[n % 2]!.call('offer', task, 0, { id: `${group}${n}`, group });
      }
    }
    await untilEmpty(both[0]!);
    for (const peer of both) expect(peer.starts.length).toBeGreaterThan(0);
    const events = both.flatMap((peer) => peer.events).sort((a, b) => a.at - b.at);
    for (const group of groups) {
      const ends = events.filter(({ event, id }) => event === 'end' && id.startsWith(group)).map(({ id }) => id);
      expect(ends).toEqual(Array.from({ length: count }, (_, n) => `${group}${n}`));
      let active = 0;
      for (const { event, id, attempt } of events.filter((each) => each.id.startsWith(group))) {
        // The attempt that fails tells of no end.
        if (id === `${group}1` && attempt === 1) continue;
        active += event === 'start' ? 1 : -1;
        expect(active).toBeLessThanOrEqual(1);
      }
    }
  });

  test('lets a process of each build in turn handle the occurrences of a message', async () => {
    const [offering, handling] = await startBoth();
    await offering.call('repeat', 'a', { cron: '* * * * * *' }, { do: 'nothing' });
    await until(() => handling.startsOf('a').length >= 2);
    await handling.end('SIGTERM');
    const next = await start(one);
    await until(() => next.startsOf('a').length >= 2);
    const times = [...handling.starts, ...next.starts].map(({ at }) => Math.floor(at / 1000));
    expect(new Set(times).size).toBe(times.length);
    await until(async () => (await next.call('cancel', 'a')) === true);
    await untilEmpty(offering);
  });

  test('has the same expiries, partitions and pauses for both processes', async () => {
    const [first, second] = await startBoth({ options: { partitions: 3 } });
    await first.call('pause');
    expect(await second.call('isPaused')).toBe(true);
    const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
    for (const id of ids) await first.call('offer', { do: 'nothing' }, 0, { id });
    await first.call('offer', { do: 'nothing' }, 0, { id: 'late', expiresAfter: 50 });
    const expired = Date.now() + 50;
    await second.call('offer', { do: 'nothing' }, '1h', { id: 'far' });
    await until(async () => ((await second.call('counts')) as { ready: number }).ready === ids.length + 1);
    expect(await first.call('cancel', 'far')).toBe(true);
    await until(() => Date.now() > expired);
    await second.call('resume');
    await untilEmpty(first);
    expect(second.starts.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });
});
