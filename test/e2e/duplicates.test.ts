import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import type { OnDuplicate } from '../../lib/store/producer-store.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('an offer with a given id', () => {
  const scene = new Scene();

  test('leaves an existing message unchanged by default', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const first = await producer.offer(queue, 'first', '1h', { id: 'm' });
    const again = await producer.offer(queue, 'second', '2h', { id: 'm' });

    expect(first.created).toBe(true);
    expect(again).toEqual({ id: 'm', dueAt: first.dueAt, created: false });
    expect(await producer.find(queue, 'm')).toMatchObject({ payload: 'first', dueAt: first.dueAt });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
  });

  test("replaces an existing message if onDuplicate is 'replace'", async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 'first', '1h', { id: 'm' });
    const again = await producer.offer(queue, 'second', 100, { id: 'm', onDuplicate: 'replace' });
    await handled.until('m');

    expect(again.created).toBe(false);
    expect(handled.payloads).toEqual(['second']);
    await until(() => isEmpty(producer, queue));
  });

  test("fails with DUPLICATE_MESSAGE and changes nothing if the id is taken and onDuplicate is 'reject'", async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const first = await producer.offer(queue, 'first', '1h', { id: 'm' });
    const again = producer.offer(queue, 'second', '2h', { id: 'm', onDuplicate: 'reject' });

    await expect(again).rejects.toMatchObject({ name: 'DelayQueueError', code: 'DUPLICATE_MESSAGE' });
    expect(await producer.find(queue, 'm')).toMatchObject({ payload: 'first', dueAt: first.dueAt });
  });

  test('makes offerMany() fail if it is refused, but the other messages are accepted and the error lists each refusal', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    await producer.offer(queue, 0, '1h', { id: 'taken' });
    const many = producer.offerMany(queue, [
      { payload: 1, delay: '1h', id: 'a', onDuplicate: 'reject' },
      { payload: 2, delay: '1h', id: 'taken', onDuplicate: 'reject' },
      { payload: 3, delay: '1h', id: 'a', onDuplicate: 'reject' },
      { payload: 4, delay: '1h', id: 'b', onDuplicate: 'reject' },
    ]);

    const error = await many.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'DUPLICATE_MESSAGE' });
    expect(((error as Error).cause as AggregateError).errors).toHaveLength(2);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 3 });
  });

  test.each<OnDuplicate>(['keep', 'replace', 'reject'])(
    "creates exactly one message if two processes make it at the same time with onDuplicate '%s'",
    async (onDuplicate) => {
      const queue = scene.newQueue();
      const apps = await Promise.all([scene.startApp(), scene.startApp()]);
      const offer = (producer: DelayQueueProducer, i: number) =>
        producer.offer(queue, i, '1h', { id: 'm', onDuplicate }).catch((error: { code: string }) => error.code);
      const results = await Promise.all(
        apps.flatMap(({ producer }, p) => [1, 2, 3].map((i) => offer(producer, p + i))),
      );

      const created = results.filter((result) => typeof result === 'object' && result.created);
      expect(created).toHaveLength(1);
      const others = results.filter((result) => result !== created[0]);
      if (onDuplicate === 'reject') expect(others).toEqual(Array(5).fill('DUPLICATE_MESSAGE'));
      else expect(others).toEqual(Array(5).fill(expect.objectContaining({ id: 'm', created: false })));
      expect(await apps[0].producer.counts(queue)).toMatchObject({ delayed: 1 });
    },
  );

  test('creates a message again once the old one is handled, cancelled or discarded', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(
      queue,
      (payload) => {
        if (payload === 'fail') throw new Error('as told');
      },
      { attempts: 1 },
    );
    const { producer } = await scene.startApp({ providers: [handler] });
    const offer = (payload: string, delay: number) =>
      producer.offer(queue, payload, delay, { id: 'm', onDuplicate: 'reject' });

    await offer('succeed', 0);
    await until(async () => (await producer.find(queue, 'm')) === null);
    await offer('cancel', 60_000);
    await producer.cancel(queue, 'm');
    await offer('fail', 0);
    await until(async () => (await producer.find(queue, 'm'))?.state === 'dead');
    await expect(offer('succeed', 0)).rejects.toMatchObject({ code: 'DUPLICATE_MESSAGE' });
    await producer.deadLetters(queue).discard('m');
    expect(await offer('succeed', 60_000)).toMatchObject({ created: true });
  });

  test('ends the lease of an active message that it replaces, and the new message starts with its first attempt', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const release = new Latch();
    const handler = handlerOf(queue, async (payload, message) => {
      handled.record(payload, message);
      if (payload === 'old') await release.opened;
    });
    const { producer, log } = await scene.startApp({ providers: [handler] });

    await producer.offer(queue, 'old', 0, { id: 'm' });
    await handled.untilCalls(1);
    await producer.offer(queue, 'new', '1h', { id: 'm', onDuplicate: 'replace' });
    release.open();
    await until(() => log.some((line) => line.includes('lease was lost')));

    expect(await producer.find(queue, 'm')).toMatchObject({ state: 'delayed', payload: 'new', failedAttempts: 0 });
    await producer.reschedule(queue, 'm', 0);
    await handled.untilCalls(2);
    expect(handled.calls[1]).toMatchObject({ payload: 'new', attempt: 1 });
  });
});
