import { describe, expect, it } from '@jest/globals';
import { TerminusModule } from '@nestjs/terminus';
import type { DelayQueueError, DelayQueueModuleOptions, DelayQueueProducer, MessageState } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { observeQueues } from '../../lib/otel/index.js';
import { DelayQueueHealthIndicator, type QueueHealth } from '../../lib/terminus/index.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Telemetry } from '../support/otel/telemetry.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { TestedApps } from '../support/tested-app.js';
import { until } from '../support/until.js';

const STORES: readonly ['redis' | 'memory', number][] = [
  ['redis', 1],
  ['redis', 3],
  ['redis', 8],
  ['memory', 1],
  ['memory', 3],
  ['memory', 8],
];

const ids = (count: number, prefix = 'm') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe.each(STORES)('a queue in %s with partitions: %i', (store, partitions) => {
  const scene = new Scene();
  const module = (queue: string, more: object = {}): DelayQueueModuleOptions => ({
    store,
    queues: { [queue]: { partitions, backoff: { type: 'fixed', delay: 10 }, ...more } },
  });

  /** An application that only offers. */
  async function startProducer(more: object = {}) {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: module(queue, more) });
    return { queue, producer };
  }

  /** An application whose handler succeeds or fails as the payload demands. */
  async function startConsumer(more: object = {}) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const handler = handlerOf<string>(queue, (payload, message) => {
      handled.record(payload, message);
      if (payload === 'fails') throw new Error('no');
    });
    const { producer } = await scene.startApp({ module: module(queue, more), providers: [handler] });
    return { queue, producer, handled };
  }

  async function pages(producer: DelayQueueProducer, queue: string, state: MessageState, limit: number) {
    const found: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await producer.list(queue, state, { limit, ...(cursor !== undefined && { cursor }) });
      found.push(page.messages.map(({ id }) => id));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  async function makeDead(producer: DelayQueueProducer, queue: string, letters: readonly string[]) {
    await producer.offerMany(
      queue,
      letters.map((id) => ({ payload: 'fails', delay: 0, id })),
    );
    await until(async () => (await producer.counts(queue)).dead === letters.length);
  }

  it('handles each message once, whatever its partition', async () => {
    const { queue, producer, handled } = await startConsumer();
    const offers = ids(200).map((id, i) => ({ payload: id, delay: i % 50, id }));
    const results = await producer.offerMany(queue, offers);
    expect(results.map(({ id, created }) => [id, created])).toEqual(ids(200).map((id) => [id, true]));
    await handled.untilCalls(200);
    await until(() => isEmpty(producer, queue));
    expect([...handled.ids].sort()).toEqual(ids(200).sort());
    expect(handled.calls.filter(({ late }) => store === 'redis' && late < 0)).toEqual([]);
  });

  it('retries a failing message until it becomes a dead letter', async () => {
    const { queue, producer, handled } = await startConsumer({ attempts: 2 });
    await makeDead(producer, queue, ids(20));
    expect(handled.calls.filter(({ attempt }) => attempt === 1)).toHaveLength(20);
    expect(handled.calls.filter(({ attempt }) => attempt === 2)).toHaveLength(20);
  });

  it('finds, reschedules and cancels a message in any partition', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ids(20)) {
      await producer.offer(queue, id, '1h', { id });
      expect(await producer.find(queue, id)).toMatchObject({ id, payload: id, state: 'delayed' });
      expect(await producer.reschedule(queue, id, '2h')).toBe(true);
    }
    expect(await producer.counts(queue)).toEqual({ delayed: 20, ready: 0, active: 0, dead: 0 });
    for (const id of ids(20)) {
      expect(await producer.cancel(queue, id)).toBe(true);
      expect(await producer.cancel(queue, id)).toBe(false);
      expect(await producer.find(queue, id)).toBeNull();
    }
    expect(await producer.nextDue(queue)).toBeNull();
  });

  it('ignores or rejects an offer whose id is in use, or replaces the existing message', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ids(20)) await producer.offer(queue, 'first', '1h', { id });
    const again = ids(20).map((id) => ({ payload: 'second', delay: '1h', id }));
    const kept = await producer.offerMany(queue, again);
    expect(kept.map(({ id, created }) => [id, created])).toEqual(ids(20).map((id) => [id, false]));
    await producer.offer(queue, 'third', '1h', { id: 'm7', onDuplicate: 'replace' });
    expect((await producer.find(queue, 'm7'))?.payload).toBe('third');
    await expect(producer.offer(queue, 0, 0, { id: 'm3', onDuplicate: 'reject' })).rejects.toMatchObject({
      code: 'DUPLICATE_MESSAGE',
      messageId: 'm3',
    });
  });

  it('accepts the rest of a list with refused messages, and names the refused ones', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ['m2', 'm11']) await producer.offer(queue, 'first', '1h', { id });
    const list = ids(20).map((id) => ({ payload: 'second', delay: '1h', id, onDuplicate: 'reject' as const }));
    const error = await producer.offerMany(queue, list).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'DUPLICATE_MESSAGE', message: expect.stringMatching(/^2 of 20 offers/) });
    const { errors } = (error as Error).cause as { readonly errors: readonly DelayQueueError[] };
    expect(errors.map(({ messageId }) => messageId)).toEqual(['m2', 'm11']);
    expect((await producer.counts(queue)).delayed).toBe(20);
  });

  it('reports the earliest due message of all partitions', async () => {
    const { queue, producer } = await startProducer();
    for (const [i, id] of ids(10).entries()) await producer.offerAt(queue, 0, new Date(4e12 + i), { id });
    expect(await producer.nextDue(queue)).toEqual(new Date(4e12));
    await producer.cancel(queue, 'm0');
    expect(await producer.nextDue(queue)).toEqual(new Date(4e12 + 1));
  });

  it('lists delayed messages by due time, then by id, in pages of any size', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ids(60)) await producer.offerAt(queue, 0, new Date(4e12 + (Number(id.slice(1)) % 7)), { id });
    const sorted = ids(60).sort((a, b) => (Number(a.slice(1)) % 7) - (Number(b.slice(1)) % 7) || (a < b ? -1 : 1));
    for (const limit of [1, 7, 59, 60, 1000]) {
      const found = await pages(producer, queue, 'delayed', limit);
      expect(found.flat()).toEqual(sorted);
      expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    }
    for (const offset of [0, 1, 33, 59, 60, 1000]) {
      const { messages } = await producer.list(queue, 'delayed', { offset, limit: 5 });
      expect(messages.map(({ id }) => id)).toEqual(sorted.slice(offset, offset + 5));
    }
  });

  it('lists messages in order even if those due first are all in one partition', async () => {
    const { queue, producer } = await startProducer();
    const first = ids(40, '{same}');
    for (const [i, id] of [...first, ...ids(40)].entries())
      await producer.offerAt(queue, 0, new Date(4e12 + i), { id });
    for (const limit of [1, 30, 80]) {
      const found = await pages(producer, queue, 'delayed', limit);
      expect(found.flat()).toEqual([...first, ...ids(40)]);
      expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    }
  });

  it('lists large messages in smaller pages, each message once', async () => {
    const { queue, producer } = await startProducer();
    const large = 'x'.repeat(200_000);
    for (const [i, id] of ids(12).entries()) await producer.offerAt(queue, large, new Date(4e12 + i), { id });
    const found = await pages(producer, queue, 'delayed', 12);
    expect(found.flat()).toEqual(ids(12));
    expect(found.length).toBeGreaterThan(1);
    expect(Math.max(...found.map((page) => page.length))).toBeLessThanOrEqual(5);
  });

  it('lists messages that stay in place exactly once, even if the message at the cursor disappears', async () => {
    const { queue, producer } = await startProducer();
    for (const [i, id] of ids(40).entries()) await producer.offerAt(queue, 0, new Date(4e12 + i), { id });
    const found: string[] = [];
    let page = await producer.list(queue, 'delayed', { limit: 6 });
    for (;;) {
      found.push(...page.messages.map(({ id }) => id));
      await producer.cancel(queue, found.at(-1)!);
      if (page.cursor === null) break;
      page = await producer.list(queue, 'delayed', { limit: 6, cursor: page.cursor });
    }
    expect(found).toEqual(ids(40));
  });

  it('lists each ready message once', async () => {
    const { queue, producer } = await startConsumer();
    await producer.pause(queue);
    await producer.offerMany(
      queue,
      ids(30).map((id) => ({ payload: id, delay: 0, id })),
    );
    await until(async () => (await producer.counts(queue)).ready === 30);
    for (const limit of [1, 4, 30, 100]) {
      expect((await pages(producer, queue, 'ready', limit)).flat().sort()).toEqual(ids(30).sort());
    }
    const all = (await pages(producer, queue, 'ready', 100)).flat();
    for (const offset of [1, 17, 29, 30, 99]) {
      const { messages } = await producer.list(queue, 'ready', { offset, limit: 3 });
      expect(messages.map(({ id }) => id)).toEqual(all.slice(offset, offset + 3));
    }
  });

  it.each(['delayed', 'ready', 'active', 'dead'] as const)(
    'refuses a malformed cursor of %s messages',
    async (state) => {
      const { queue, producer } = await startProducer();
      for (const cursor of ['x', '', '999/', '1/x', 'other:1:a']) {
        await expect(producer.list(queue, state, { cursor })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      }
    },
  );

  it('is paused and resumed in all partitions', async () => {
    const { queue, producer, handled } = await startConsumer();
    await producer.pause(queue);
    expect(await producer.isPaused(queue)).toBe(true);
    await producer.offerMany(
      queue,
      ids(20).map((id) => ({ payload: id, delay: 0, id })),
    );
    await until(async () => (await producer.counts(queue)).ready === 20);
    expect(handled.calls).toEqual([]);
    await producer.resume(queue);
    await handled.untilCalls(20);
    expect(await producer.isPaused(queue)).toBe(false);
  });

  it('is cleared in all partitions', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ids(20)) await producer.offer(queue, 0, '1h', { id });
    expect(await producer.clear(queue)).toBe(20);
    expect(await isEmpty(producer, queue)).toBe(true);
  });

  it('lists dead letters of all partitions, oldest first, and redrives and discards them singly or all at once', async () => {
    const { queue, producer, handled } = await startConsumer({ attempts: 1 });
    for (const id of ids(6)) await makeDeadAfter(id);
    async function makeDeadAfter(id: string) {
      const { dead } = await producer.counts(queue);
      await producer.offer(queue, 'fails', 0, { id });
      await until(async () => (await producer.counts(queue)).dead > dead);
    }
    const letters = producer.deadLetters(queue);
    const first = await letters.list({ limit: 4 });
    const rest = await letters.list({ limit: 4, cursor: first.cursor! });
    expect([...first.messages, ...rest.messages].map(({ id }) => id)).toEqual(ids(6));
    expect(rest.cursor).toBeNull();
    expect([await letters.discard('m1'), await letters.discard('m1')]).toEqual([true, false]);
    expect([await letters.redrive('m2'), await letters.redrive('none')]).toEqual([true, false]);
    await handled.untilCalls(7);
    await until(async () => (await producer.counts(queue)).dead === 5);
    expect(await letters.redriveAll()).toBe(5);
    await handled.untilCalls(12);
    await until(async () => (await producer.counts(queue)).dead === 5);
    expect(await letters.discardAll()).toBe(5);
    expect(await isEmpty(producer, queue)).toBe(true);
  });

  it('counts messages by type', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ids(30)) await producer.offer(queue, 0, '1h', { id, type: Number(id.slice(1)) % 3 ? 'a' : 'b' });
    const counts = await producer.countsByType(queue);
    expect([...counts].map(([type, { delayed }]) => [type, delayed]).sort()).toEqual([
      ['a', 20],
      ['b', 10],
    ]);
  });

  it('handles no more messages at once than its concurrency allows', async () => {
    const queue = scene.newQueue();
    let [running, most, done] = [0, 0, 0];
    const handler = handlerOf(queue, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      done++;
    });
    const app = await scene.startApp({ module: module(queue, { concurrency: 3 }), providers: [handler] });
    await app.producer.offerMany(
      queue,
      ids(120).map((id) => ({ payload: 0, delay: 0, id })),
    );
    await until(() => done === 120);
    expect(most).toBe(3);
  });

  it('appears only once in the list of queues', async () => {
    const { queue, producer } = await startProducer();
    for (const id of ids(20)) await producer.offer(queue, 0, '1h', { id });
    const { queues } = await producer.queues({ limit: 1000 });
    expect(queues.filter((name) => name.startsWith(queue))).toEqual([queue]);
  });

  it('is full when each partition holds its share', async () => {
    const { queue, producer } = await startProducer({ maxMessages: 24 });
    let full = 0;
    for (const id of ids(200)) {
      await producer.offer(queue, 0, '1h', { id }).catch(({ code }) => code === 'QUEUE_FULL' && full++);
    }
    expect([(await producer.counts(queue)).delayed, full]).toEqual([24, 176]);
  });

  it('may belong to a family', async () => {
    const handled = new Handled();
    const prefix = `${scene.newQueue()}-`;
    const family = `${prefix}*`;
    const { producer } = await scene.startApp({
      module: { store, queues: { [family]: { partitions } } },
      providers: [handlerOf(family, handled.record)],
    });
    for (const id of ids(20)) await producer.offer(`${prefix}${Number(id.slice(1)) % 2}`, 0, 5, { id });
    await handled.untilCalls(20);
    expect([...handled.ids].sort()).toEqual(ids(20).sort());
  });

  it("wakes its family's handler for a message in its last partition", async () => {
    const handled = new Handled();
    const prefix = `${scene.newQueue()}-`;
    const { producer } = await scene.startApp({
      module: { store, queues: { [`${prefix}*`]: { partitions } } },
      providers: [handlerOf(`${prefix}*`, handled.record)],
    });
    const last = ids(1000).find((id) => partitionOf(id, partitions) === partitions - 1)!;
    // Only once it listens.
    await producer.offer(`${prefix}first`, 0, 0, { id: last });
    await handled.untilCalls(1);
    await producer.offer(`${prefix}second`, 0, 50, { id: last });
    await handled.untilCalls(2);
    expect(handled.calls.map(({ message }) => message.queue)).toEqual([`${prefix}first`, `${prefix}second`]);
  });
});

describe('a queue with partitions in Redis', () => {
  const scene = new Scene();
  const with8 = (queue: string) => ({ queues: { [queue]: { partitions: 8 } } });

  async function delayedIn(queue: string, partition: number) {
    return scene.redis.zcard(nativeKeys(scene.prefix, queue, partition).delayed);
  }

  it('keeps messages together if their ids share the part in braces', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: with8(queue) });
    for (const step of ids(20, 'step')) await producer.offer(queue, 0, '1h', { id: `order{42}:${step}` });
    expect(await delayedIn(queue, partitionOf('42', 8))).toBe(20);
  });

  it('spreads messages whose ids have no braces', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: with8(queue) });
    await producer.offerMany(
      queue,
      ids(400).map((id) => ({ payload: 0, delay: '1h', id })),
    );
    const found = await Promise.all(ids(8, '').map((partition) => delayedIn(queue, Number(partition))));
    expect(Math.min(...found)).toBeGreaterThan(20);
  });

  it('sends offers made in the same event-loop turn together if their ids are generated', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: with8(queue) });
    const results = await Promise.all(ids(50).map((payload) => producer.offer(queue, payload, '1h')));
    expect(new Set(results.map(({ id }) => partitionOf(id, 8))).size).toBe(1);
    for (const { id } of results) expect(await producer.find(queue, id)).not.toBeNull();
  });

  it('keeps working after Redis has lost all data', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({
      module: with8(queue),
      providers: [handlerOf(queue, () => undefined)],
    });
    await producer.offer(queue, 0, '1h', { id: 'a' });
    for (let partition = 0; partition < 8; partition++) {
      const keys: string[] = Object.values({ ...nativeKeys(scene.prefix, queue, partition) });
      await scene.redis.del(keys);
    }
    for (const id of ids(20)) await producer.offer(queue, 0, '1h', { id });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 20 });
  });

  it("is refused with a rate that cannot be divided, with a global concurrency or in Redisson's layout", async () => {
    const queue = scene.newQueue();
    const start = (options: object) =>
      scene.startApp({ module: { queues: { [queue]: { partitions: 2, ...options } } } });
    await expect(start({ rate: { max: 1, per: '1s' } })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('rate max must be at least 2, the number of partitions'),
    });
    await expect(start({ globalConcurrency: 5 })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining("globalConcurrency must be 'unlimited' with partitions"),
    });
    await expect(start({ layout: redisson() })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining("partitions must be 1 with layout 'redisson'"),
    });
  });

  it('is measured and checked as a single queue', async () => {
    const queue = scene.newQueue();
    const { producer, context } = await scene.startApp({
      module: with8(queue),
      imports: [TerminusModule],
      providers: [DelayQueueHealthIndicator],
    });
    for (const id of ids(20)) await producer.offer(queue, 0, '1h', { id });
    await producer.offer(queue, 0, 0, { id: 'due' });
    await until(async () => {
      const check = await context.get(DelayQueueHealthIndicator).check('delay-queue', { queues: [queue] });
      const queues = check['delay-queue'].queues as Readonly<Record<string, QueueHealth>>;
      return queues[queue]!.delayed === 21 && queues[queue]!.overdue > 0;
    });
    const telemetry = new Telemetry();
    telemetry.register();
    observeQueues(context, [queue]);
    const points = await telemetry.points('delay_queue.queue.messages');
    expect(points.map(({ value }) => value).sort()).toEqual([0, 0, 0, 21]);
    await telemetry.unregister();
  });

  it('loses no message when one of two workers is killed', async () => {
    const queue = scene.newQueue();
    const settings = { queue, handler: { partitions: 8, lease: '1s', concurrency: 4 }, module: { shutdownTimeout: 0 } };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    const { producer } = await scene.startApp({ module: with8(queue) });
    await producer.offerMany(
      queue,
      ids(200).map((id, i) => ({ payload: { do: 'work', ms: 5 }, delay: i * 5, id })),
    );
    // Single messages may all go to one worker, so the busier one is killed.
    const busy = () => workers.find(({ entries }) => entries.filter(({ event }) => event === 'end').length >= 20);
    await until(() => busy() !== undefined);
    await busy()!.end('SIGKILL');
    const ended = () =>
      new Set(workers.flatMap(({ entries }) => entries.flatMap((e) => (e.event === 'end' ? [e.id] : []))));
    await until(() => ended().size === 200, { within: 30_000 });
    await until(() => isEmpty(producer, queue));
    expect([...ended()].sort()).toEqual(ids(200).sort());
  });
});

describe('an application under test', () => {
  const apps = new TestedApps();

  it('handles the messages of a queue with partitions in order of due time', async () => {
    const handled = new Handled();
    const { producer, tester } = await apps.startParts({
      options: { queues: { orders: { partitions: 8 } } },
      providers: [handlerOf('orders', handled.record)],
    });
    for (const [i, id] of ids(30).entries()) await producer.offer('orders', i, i * 1000, { id });
    expect(tester.offered('orders').map(({ id }) => id)).toEqual(ids(30));
    await tester.advance(9_500);
    expect(handled.ids).toEqual(ids(10));
    await tester.drain();
    expect(handled.ids).toEqual(ids(30));
    await producer.offer('orders', 0, '1h', { id: 'x' });
    await tester.clear();
    expect(await producer.counts('orders')).toMatchObject({ delayed: 0 });
  });
});
