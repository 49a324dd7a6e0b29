import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DelayQueueEvent, type DelayQueueModuleOptions, type DelayQueueObserver } from '../../lib/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const WAITS = { within: 20_000 };

describe('the groups option across processes', () => {
  const scene = new Scene();

  /** Starts a process that handles a queue, or the queues of a family. */
  async function handle(queue: string, groups: GroupOptions | 'off', module: DelayQueueModuleOptions = {}) {
    const ignored: string[] = [];
    const handled: unknown[] = [];
    const observer: DelayQueueObserver = {
      event: (event: DelayQueueEvent) => void (event.name === 'groups-ignored' && ignored.push(event.queue)),
    };
    const app = await scene.startApp({
      module: { observers: [observer], ...module },
      providers: [handlerOf(queue, (payload) => void handled.push(payload), { groups })],
    });
    return { app, ignored, handled };
  }

  const startProducer = async (queue: string, groups: GroupOptions | 'off' = {}) =>
    (await scene.startApp({ module: { consume: false, queues: { [queue]: { groups } } } })).producer;

  /** The log of the applications; all applications of one Node.js process log to the last of them. */
  const warningsOf = (apps: readonly TestApp[], words: string) =>
    apps.flatMap(({ log }) => log.filter((line) => line.startsWith('warn ') && line.includes(words)));

  test('a process without the option logs once that it ignores messages with groups, which another process handles', async () => {
    const queue = scene.newQueue();
    const producer = await startProducer(queue);
    await producer.offer(queue, 'grouped', 0, { group: 'one' });
    const without = await handle(queue, 'off', { defaults: { partitions: 2 } });
    await until(() => without.ignored.length > 0, WAITS);
    await producer.offer(queue, 'plain', 0);
    await until(() => without.handled.length > 0, WAITS);
    expect(without.handled).toEqual(['plain']);
    expect(without.ignored).toEqual([queue]);
    expect(warningsOf([without.app], 'messages with groups')).toEqual([
      `warn ${queue}: the queue has messages with groups, but this process handles it without the option groups, so it leaves them ` +
        `alone: set queues['${queue}'].groups, such as { concurrency: 1 }, in every process; see docs/groups.md`,
    ]);
    const having = await handle(queue, {});
    await until(() => having.handled.length > 0, WAITS);
    expect(having).toMatchObject({ handled: ['grouped'], ignored: [] });
  });

  test('a process without the option logs nothing about a queue whose messages have no groups', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    await producer.offer(queue, 'plain', 0);
    const { app, ignored, handled } = await handle(queue, 'off');
    await until(() => handled.length > 0, WAITS);
    await app.close();
    expect({ ignored, warnings: warningsOf([app], 'groups') }).toEqual({ ignored: [], warnings: [] });
  });

  test.each<[string, GroupOptions, GroupOptions, string, string]>([
    [
      'concurrency',
      {},
      { concurrency: 'unlimited' },
      "{ concurrency: 1, onRetry: 'hold' }",
      "{ concurrency: 'unlimited', onRetry: 'hold' }",
    ],
    [
      'onRetry',
      { concurrency: 2 },
      { concurrency: 2, onRetry: 'pass' },
      "{ concurrency: 2, onRetry: 'hold' }",
      "{ concurrency: 2, onRetry: 'pass' }",
    ],
    [
      'rate',
      {},
      { rate: { max: 10, per: '1s' } },
      "{ concurrency: 1, onRetry: 'hold' }",
      "{ concurrency: 1, onRetry: 'hold', rate: { max: 10, per: 1000 } }",
    ],
  ])(
    'processes with different values of %s each log the difference once',
    async (_option, one, other, shown, shownOther) => {
      const queue = scene.newQueue();
      const apps: TestApp[] = [];
      for (const groups of [one, other, one, other]) apps.push((await handle(queue, groups)).app);
      await until(() => warningsOf(apps, 'groups:').length >= 4, WAITS);
      const text = (own: string, others: string) =>
        `warn ${queue}: this process has groups: ${own}, and another one has ${others}; each follows its own, so configure all alike. ` +
        'During a deploy that changes them, this is normal';
      const [ofOne, ofOther] = [text(shown, shownOther), text(shownOther, shown)];
      expect(warningsOf(apps, 'groups:').sort()).toEqual([ofOne, ofOne, ofOther, ofOther].sort());
    },
  );

  test('processes that handle a family each log a difference once, for the whole family', async () => {
    const family = `${scene.newQueue()}-*`;
    const apps = [(await handle(family, {})).app, (await handle(family, { concurrency: 3 })).app];
    const reported = () => warningsOf(apps, `${family}: this process has groups`);
    await until(() => reported().length >= 2, WAITS);
    expect(reported()).toHaveLength(2);
  });

  test('a process reports no difference from one with the same options', async () => {
    const queue = scene.newQueue();
    const apps = [(await handle(queue, {})).app, (await handle(queue, { concurrency: 1 })).app];
    // The different one starts after them and is answered by both.
    apps.push((await handle(queue, { concurrency: 2 })).app);
    await until(() => warningsOf(apps, 'groups:').length === 3, WAITS);
    expect(warningsOf(apps, 'another one has { concurrency: 2,')).toHaveLength(2);
    expect(warningsOf(apps, 'another one has { concurrency: 1,')).toHaveLength(1);
  });

  test('processes with different concurrency never exceed the higher one together, and handle all messages', async () => {
    const queue = scene.newQueue();
    let [running, most, done] = [0, 0, 0];
    const work = async () => {
      most = Math.max(most, ++running);
      await sleep(2);
      running--;
      done++;
    };
    const producer = await startProducer(queue, { concurrency: 3 });
    for (const concurrency of [1, 3]) {
      await scene.startApp({ providers: [handlerOf(queue, work, { groups: { concurrency } })] });
    }
    await producer.offerMany(
      queue,
      Array.from({ length: 300 }, (_, i) => ({ payload: i, delay: i % 100, group: 'one' })),
    );
    await until(() => done === 300, WAITS);
    expect(most).toBeLessThanOrEqual(3);
    await until(async () => (await producer.counts(queue)).active === 0, WAITS);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('a process follows its own onRetry, not that of the producer', async () => {
    const queue = scene.newQueue();
    const order: unknown[] = [];
    const producer = await startProducer(queue, { onRetry: 'hold' });
    const fail = (payload: unknown) => {
      order.push(payload);
      if (order.filter((each) => each === payload).length === 1 && payload === 'fails once') throw new Error('once');
    };
    await scene.startApp({
      providers: [handlerOf(queue, fail, { groups: { onRetry: 'pass' }, backoff: { type: 'fixed', delay: 100 } })],
    });
    await producer.offerMany(queue, [
      { payload: 'fails once', delay: 0, group: 'one' },
      { payload: 'next', delay: 1, group: 'one' },
    ]);
    await until(() => order.length === 3, WAITS);
    expect(order).toEqual(['fails once', 'next', 'fails once']);
  });
});
