import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Far less than the minute after which a queue is checked anyway, and long enough for a busy machine, ms. */
const LATEST = 3000;
const NONE = { delayed: 0, ready: 0, active: 0, dead: 0 };

describe('the producer', () => {
  const scene = new Scene();

  async function startQueue() {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    return { queue, handled, producer };
  }

  test('cancels a message in time, so that it is never handled', async () => {
    const { queue, handled, producer } = await startQueue();
    await producer.offer(queue, null, 1000, { id: 'paid' });
    await producer.offer(queue, null, 1050, { id: 'unpaid' });

    expect(await producer.cancel(queue, 'paid')).toBe(true);
    expect(await producer.cancel(queue, 'paid')).toBe(false);
    expect(await producer.find(queue, 'paid')).toBeNull();
    await handled.until('unpaid');
    await until(async () => (await producer.find(queue, 'unpaid')) === null);

    expect(handled.ids).toEqual(['unpaid']);
    expect(await producer.cancel(queue, 'unpaid')).toBe(false);
  });

  test('reschedules a message to an earlier time, and it is handled then', async () => {
    const { queue, handled, producer } = await startQueue();
    await producer.offer(queue, null, '1h', { id: 'm' });

    expect(await producer.reschedule(queue, 'm', 200)).toBe(true);
    const { late, message } = await handled.until('m');

    expect(message.dueAt.getTime() - message.offeredAt.getTime()).toBeLessThan(5000);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(LATEST);
  });

  test('accepts a date or a delay in lists and for rescheduling', async () => {
    const { queue, producer } = await startQueue();
    const [first, second] = [new Date(Date.now() + 3_600_000), new Date(Date.now() + 7_200_000)];
    await producer.offerMany(queue, [
      { payload: 1, at: first, id: 'dated' },
      { payload: 2, delay: '1d', id: 'delayed' },
    ]);
    expect((await producer.find(queue, 'dated'))!.dueAt).toEqual(first);

    expect(await producer.reschedule(queue, 'delayed', second)).toBe(true);
    expect((await producer.find(queue, 'delayed'))!.dueAt).toEqual(second);
  });

  test.each([
    [{ payload: 1 }, 'neither'],
    [{ payload: 1, delay: 1, at: new Date() }, 'both'],
  ])('requires either a delay or a date for each message of a list: %j', async (message, has) => {
    const { queue, producer } = await startQueue();
    const problem = `messages[0]: it must have either a delay or at, a Date, but has ${has}`;
    await expect(producer.offerMany(queue, [message as never])).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: problem,
    });
  });

  test('reschedules a message to a later time, and it is handled only then', async () => {
    const { queue, handled, producer } = await startQueue();
    const { dueAt } = await producer.offer(queue, null, 1000, { id: 'm' });

    expect(await producer.reschedule(queue, 'm', 1500)).toBe(true);
    const moved = (await producer.find(queue, 'm'))!.dueAt;
    const { late, message } = await handled.until('m');

    expect(moved.getTime() - dueAt.getTime()).toBeGreaterThanOrEqual(500);
    expect(message.dueAt).toEqual(moved);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(LATEST);
    expect(handled.ids).toEqual(['m']);
    await until(async () => !(await producer.reschedule(queue, 'm', 10)));
  });

  test('lets either cancelling or handling win, and tells the caller which', async () => {
    const { queue, handled, producer } = await startQueue();
    const ids = Array.from({ length: 300 }, (_, i) => `m${i}`);
    await producer.offerMany(
      queue,
      ids.map((id) => ({ id, payload: null, delay: 250 })),
    );
    const cancelled = new Set<string>();
    // One cancellation a millisecond, from before the due time until well past it.
    for (const id of ids) {
      const pause = sleep(1);
      if (await producer.cancel(queue, id)) cancelled.add(id);
      await pause;
    }
    await until(() => isEmpty(producer, queue));

    expect(cancelled.size).toBeGreaterThan(0);
    expect(handled.calls.length).toBeGreaterThan(0);
    expect(new Set([...handled.ids, ...cancelled]).size).toBe(300);
    expect(handled.calls.length + cancelled.size).toBe(300);
  });

  test('finds a message in every state and counts it in exactly that state', async () => {
    const queue = scene.newQueue();
    const started = new Latch();
    const release = new Latch();
    const handler = handlerOf(
      queue,
      async () => {
        started.open();
        await release.opened;
        throw new Error('in vain');
      },
      { attempts: 1, concurrency: 1 },
    );
    const { producer } = await scene.startApp({ providers: [handler] });
    const look = async () => ({ found: await producer.find(queue, 'm'), counts: await producer.counts(queue) });
    const content = { id: 'm', queue, payload: { n: 1 }, headers: { h: '1' } };

    expect(await look()).toEqual({ found: null, counts: NONE });
    expect(await producer.nextDue(queue)).toBeNull();

    await producer.pause(queue);
    const { dueAt } = await producer.offer(queue, { n: 1 }, 200, { id: 'm', headers: { h: '1' } });
    expect(await look()).toMatchObject({
      found: { ...content, state: 'delayed', dueAt, failedAttempts: 0 },
      counts: { ...NONE, delayed: 1 },
    });
    expect(await producer.nextDue(queue)).toEqual(dueAt);

    await until(async () => (await producer.counts(queue)).ready === 1);
    expect(await look()).toMatchObject({ found: { ...content, state: 'ready' }, counts: { ...NONE, ready: 1 } });
    expect(await producer.nextDue(queue)).toBeNull();

    await producer.resume(queue);
    await started.opened;
    const active = await look();
    expect(active).toMatchObject({ found: { ...content, state: 'active' }, counts: { ...NONE, active: 1 } });
    expect(active.found!.leasedUntil!.getTime()).toBeGreaterThan(Date.now());

    release.open();
    await until(async () => (await producer.counts(queue)).dead === 1);
    expect(await look()).toMatchObject({
      found: { ...content, state: 'dead', failedAttempts: 1 },
      counts: { ...NONE, dead: 1 },
    });
    expect((await producer.find(queue, 'm'))!.leasedUntil).toBeUndefined();
  });

  test('accepts a time in the past and has the message handled at once', async () => {
    const { queue, handled, producer } = await startQueue();
    const date = new Date(Date.now() - 60_000);
    const { dueAt } = await producer.offerAt(queue, null, date, { id: 'm' });
    await handled.until('m', { within: 1000 });
    expect(dueAt).toEqual(date);
  });

  test('creates two messages for equal payloads', async () => {
    const { queue, handled, producer } = await startQueue();
    const first = await producer.offer(queue, { same: true }, 1000);
    const second = await producer.offer(queue, { same: true }, 1000);

    expect(first.id).not.toBe(second.id);
    expect(await producer.cancel(queue, first.id)).toBe(true);
    await handled.until(second.id);
    expect(handled.ids).toEqual([second.id]);
  });
});
