import { describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, type DelayQueueModuleOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Handles messages step by step and records how many of a group run at once. */
class Desk {
  readonly started: string[] = [];
  readonly done: string[] = [];
  readonly #running = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  maxAtOnce = 0;
  isOpen = true;

  readonly handle = async (payload: unknown, { id, group = '' }: DelayedMessage): Promise<void> => {
    this.started.push(id);
    const running = (this.#running.get(group) ?? 0) + 1;
    this.#running.set(group, running);
    this.maxAtOnce = Math.max(this.maxAtOnce, running);
    try {
      if (!this.isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      else await new Promise((resolve) => setImmediate(resolve));
      if (payload === 'fails once' && this.started.filter((other) => other === id).length === 1)
        throw new Error('once');
      this.done.push(id);
    } finally {
      this.#running.set(group, this.#running.get(group)! - 1);
    }
  };

  open(): void {
    this.isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }
}

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['memory', { store: 'memory' }],
])('groups: %s', (_name, module) => {
  const scene = new Scene();

  async function start(groups: GroupOptions, apps = 1, more: object = {}) {
    const queue = scene.newQueue();
    const desk = new Desk();
    const options = {
      ...module,
      defaults: { ...module.defaults, backoff: { type: 'fixed', delay: 50 } as const },
      queues: { [queue]: { groups, ...more } },
    };
    const started = [];
    for (let i = 0; i < apps; i++) {
      started.push(await scene.startApp({ module: options, providers: [handlerOf(queue, desk.handle)] }));
    }
    return { queue, desk, producer: started[0]!.producer };
  }

  test('with a concurrency of 1 have their messages handled one at a time, in order of due time', async () => {
    const { queue, desk, producer } = await start({ concurrency: 1 });
    const ids = Array.from({ length: 40 }, (_, i) => `m${i}`);
    const shuffled = ids.map((id, i) => ({ id, payload: i, delay: 200 + i })).sort((a, b) => (a.id < b.id ? -1 : 1));
    await producer.offerMany(
      queue,
      shuffled.map((each) => ({ ...each, group: 'one' })),
    );
    await until(() => desk.done.length === 40, { within: 20_000 });
    expect(desk.done).toEqual(ids);
    expect(desk.maxAtOnce).toBe(1);
  });

  test('have messages with the same due time handled in offer order', async () => {
    const { queue, desk, producer } = await start({ concurrency: 1 });
    const at = new Date(Date.now() + 300);
    const ids = Array.from({ length: 20 }, (_, i) => `m${(i * 7) % 20}`);
    await producer.offerMany(
      queue,
      ids.map((id) => ({ id, payload: id, at, group: 'one' })),
    );
    await until(() => desk.done.length === 20, { within: 20_000 });
    expect(desk.done).toEqual(ids);
  });

  test('have as many messages handled at once as their concurrency allows, without waiting for each other', async () => {
    const { queue, desk, producer } = await start({ concurrency: 2 });
    desk.isOpen = false;
    await producer.offerMany(
      queue,
      ['a1', 'a2', 'a3', 'b1'].map((id) => ({ id, payload: id, delay: 0, group: id[0]! })),
    );
    await until(() => desk.started.length === 3, { within: 20_000 });
    expect([...desk.started].sort()).toEqual(['a1', 'a2', 'b1']);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 1, active: 3, dead: 0 });
    desk.open();
    await until(() => desk.done.length === 4, { within: 20_000 });
    expect(desk.maxAtOnce).toBe(2);
  });

  test.each([
    ['hold', ['first', 'second']],
    ['pass', ['second', 'first']],
  ] as const)(
    "choose the next message while one waits for its retry, according to onRetry: '%s'",
    async (onRetry, order) => {
      const { queue, desk, producer } = await start({ concurrency: 1, onRetry });
      await producer.offerMany(queue, [
        { id: 'first', payload: 'fails once', delay: 0, group: 'one' },
        { id: 'second', payload: 'works', delay: 1, group: 'one' },
      ]);
      await until(() => desk.done.length === 2, { within: 20_000 });
      expect(desk.done).toEqual(order);
    },
  );

  test('are served round-robin, so a group with many messages hardly delays another', async () => {
    const { queue, desk, producer } = await start({ concurrency: 'unlimited' }, 1, { concurrency: 1 });
    desk.isOpen = false;
    await producer.offerMany(
      queue,
      Array.from({ length: 500 }, (_, i) => ({ payload: i, delay: 0, group: 'large' })),
    );
    await until(async () => (await producer.counts(queue)).ready >= 499, { within: 20_000 });
    await producer.offer(queue, 'urgent', 0, { id: 'urgent', group: 'small' });
    await until(async () => (await producer.counts(queue)).delayed === 0, { within: 20_000 });
    desk.open();
    await until(() => desk.started.includes('urgent'), { within: 20_000 });
    expect(desk.started.indexOf('urgent')).toBeLessThanOrEqual(3);
    await until(() => desk.done.length === 501, { within: 20_000 });
  });

  test('with a concurrency of 1 never have two messages handled at once, even by two processes', async () => {
    const { queue, desk, producer } = await start({ concurrency: 1 }, 2);
    await producer.offerMany(
      queue,
      Array.from({ length: 300 }, (_, i) => ({ id: `m${i}`, payload: i, delay: i % 50, group: `g${i % 7}` })),
    );
    await until(() => desk.done.length === 300, { within: 20_000 });
    expect(desk.maxAtOnce).toBe(1);
    await until(async () => (await producer.counts(queue)).active === 0, { within: 20_000 });
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('allow their messages to be found, moved, cancelled and aborted by id', async () => {
    const { queue, desk, producer } = await start({ concurrency: 1 });
    desk.isOpen = false;
    await producer.offer(queue, 'p', '1h', { id: 'a', group: 'one', headers: { h: '1' }, type: 't' });
    await producer.offer(queue, 'p', '1h', { id: 'plain' });
    expect(await producer.find(queue, 'a')).toMatchObject({ state: 'delayed', group: 'one', payload: 'p', type: 't' });
    expect(await producer.find(queue, 'plain')).not.toHaveProperty('group');
    expect(await producer.reschedule(queue, 'a', '2h', { payload: 'q' })).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ group: 'one', payload: 'q' });
    expect(await producer.cancel(queue, 'a')).toBe(true);
    expect(await producer.find(queue, 'a')).toBeNull();
    await producer.offer(queue, 'p', 0, { id: 'a', group: 'one' });
    await until(() => desk.started.length === 1, { within: 20_000 });
    await producer.offer(queue, 'p', 0, { id: 'b', group: 'one' });
    expect(await producer.abort(queue, 'a')).toBe(true);
    await until(() => desk.started.length === 2, { within: 20_000 });
    desk.open();
    await until(() => desk.done.includes('b'), { within: 20_000 });
    expect((await producer.list(queue, 'delayed')).messages.map(({ id }) => id)).toEqual(['plain']);
  });

  test('are counted, listed, moved and cancelled as a whole', async () => {
    const { queue, desk, producer } = await start({ concurrency: 1 });
    const offers = Array.from({ length: 1200 }, (_, i) => ({
      id: `m${i}`,
      payload: i,
      delay: '1h' as const,
      group: 'one',
    }));
    await producer.offerMany(queue, [...offers, { id: 'other', payload: 0, delay: '1h', group: 'one more' }]);
    const one = producer.group(queue, 'one');
    expect(await one.counts()).toEqual({ delayed: 1200, ready: 0, active: 0, dead: 0 });
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await one.list('delayed', { limit: 500, ...(cursor !== undefined && { cursor }) });
      listed.push(...page.messages.map(({ id }) => id));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(listed.sort()).toEqual(offers.map(({ id }) => id).sort());
    expect(await one.rescheduleAll('2h')).toBe(1200);
    expect(await one.cancelAll()).toBe(1200);
    expect(await producer.group(queue, 'one more').counts()).toMatchObject({ delayed: 1 });
    expect(desk.started).toEqual([]);
    expect(await one.redriveAll()).toBe(0);
  });

  test('are listed with messages without groups, each message once, whatever the page size', async () => {
    const { queue, producer } = await start({ concurrency: 1 });
    const at = new Date(Date.now() + 3_600_000);
    const ids = Array.from({ length: 30 }, (_, i) => `m${(i * 7) % 30}`);
    await producer.offerMany(
      queue,
      ids.map((id, i) => ({ id, payload: id, at, ...(i % 3 > 0 && { group: `g${i % 2}` }) })),
    );
    for (const limit of [1, 4, 1000]) {
      const listed: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages < 100; pages++) {
        const page = await producer.list(queue, 'delayed', { limit, ...(cursor !== undefined && { cursor }) });
        listed.push(...page.messages.map(({ id }) => id));
        if (page.cursor === null) break;
        cursor = page.cursor;
      }
      expect(listed).toHaveLength(30);
      expect(new Set(listed)).toEqual(new Set(ids));
    }
  });

  test.each([5, 400])('list all their %i messages and no others, whatever the page size', async (count) => {
    const { queue, producer } = await start({ concurrency: 1 });
    const ids = Array.from({ length: count }, (_, i) => `m${i}`);
    const offersOf = (group: string) =>
      ids.map((id) => ({ id: `${id} of ${group}`, payload: 0, delay: '1h' as const, group }));
    await producer.offerMany(queue, [...offersOf('one'), ...offersOf('other')]);
    for (const limit of [1, 3, 1000]) {
      const listed: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages < 1000; pages++) {
        const page = await producer
          .group(queue, 'one')
          .list('delayed', { limit, ...(cursor !== undefined && { cursor }) });
        expect(page.messages.length).toBeLessThanOrEqual(limit);
        listed.push(...page.messages.map(({ id }) => id));
        if (page.cursor === null) break;
        cursor = page.cursor;
      }
      expect(new Set(listed)).toEqual(new Set(ids.map((id) => `${id} of one`)));
    }
  });

  test('have no messages handled while the queue is paused, and are emptied by clear()', async () => {
    const { queue, desk, producer } = await start({ concurrency: 1 });
    await producer.pause(queue);
    await producer.offerMany(
      queue,
      Array.from({ length: 5 }, (_, i) => ({ payload: i, delay: 0, group: 'one' })),
    );
    await until(async () => (await producer.counts(queue)).ready === 5, { within: 20_000 });
    expect(desk.started).toEqual([]);
    expect((await producer.list(queue, 'ready')).messages).toHaveLength(5);
    expect(await producer.clear(queue)).toBe(5);
    await producer.offer(queue, 'p', 0, { id: 'last', group: 'one' });
    await producer.resume(queue);
    await until(() => desk.done.includes('last'), { within: 20_000 });
    expect(desk.done).toEqual(['last']);
  });
});

describe('groups', () => {
  const scene = new Scene();

  test('are refused in a queue without the option, in the Redisson layout, and with a malformed name', async () => {
    const [queue, shared, grouped] = [scene.newQueue(), scene.newQueue(), scene.newQueue()];
    const { producer } = await scene.startApp({
      module: { consume: false, queues: { [shared]: { layout: redisson() }, [grouped]: { groups: {} } } },
    });
    await expect(producer.offer(queue, 1, 0, { group: 'one' })).rejects.toThrow(
      `group: queue '${queue}' has no groups; set queues['${queue}'].groups, such as { concurrency: 1 }, in every process`,
    );
    await expect(producer.offer(shared, 1, 0, { group: 'one' })).rejects.toThrow("layout 'redisson'");
    await expect(producer.offer(grouped, 1, 0, { group: 'a\nb' })).rejects.toThrow(
      'group: the name of a group must be text',
    );
    expect(() => producer.group(queue, 'one')).toThrow('has no groups');
    expect((await producer.counts(grouped)).delayed).toBe(0);
  });

  test('allow batches from several groups, with one message of each if their concurrency is 1', async () => {
    const queue = scene.newQueue();
    const batches: string[][] = [];
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 10, groups: { concurrency: 1 } })
      handle(_payloads: unknown[], messages: readonly DelayedMessage[]): void {
        batches.push(messages.map(({ group }) => group!));
      }
    }
    const { producer } = await scene.startApp({ providers: [Batches] });
    await producer.offerMany(
      queue,
      Array.from({ length: 30 }, (_, i) => ({ payload: i, delay: 100, group: `g${i % 10}` })),
    );
    await until(() => batches.flat().length === 30, { within: 20_000 });
    for (const batch of batches) expect(new Set(batch).size).toBe(batch.length);
  });
});
