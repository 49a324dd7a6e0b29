import { describe, expect, test } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { DelayQueueModule, type DelayedMessage, DelayQueueProducer } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const FOLLOW = { id: 'reindex:7', onDuplicate: 'follow' } as const;

describe("an offer with onDuplicate 'follow'", () => {
  const scene = new Scene();

  /** A handler whose first call ends when the test lets it. */
  function heldHandler() {
    const held = new Latch();
    const calls: { payload: unknown; attempt: number }[] = [];
    const handle = async (payload: unknown, { attempt }: DelayedMessage) => {
      calls.push({ payload, attempt });
      if (calls.length === 1) await held.opened;
      if (payload === 'fails') throw new Error('as told');
    };
    return { held, calls, handle };
  }

  test('creates a message if its id is free, and leaves an existing delayed one as it is', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const first = await producer.offer(queue, 'first', '1h', FOLLOW);
    expect(first).toEqual({ id: FOLLOW.id, dueAt: first.dueAt, created: true });
    expect(await producer.offer(queue, 'second', '2h', FOLLOW)).toEqual({ ...first, created: false });
    expect(await producer.find(queue, FOLLOW.id)).toMatchObject({ payload: 'first' });
  });

  test.each([1, 4])(
    'is handled once after the active message, with the payload offered last: partitions %i',
    async (partitions) => {
      const queue = scene.newQueue();
      const { held, calls, handle } = heldHandler();
      const { producer } = await scene.startApp({
        module: { defaults: { partitions } },
        providers: [handlerOf(queue, handle)],
      });
      const { dueAt } = await producer.offer(queue, 'first', 0, FOLLOW);
      await until(() => calls.length === 1);
      for (const payload of ['second', 'third']) {
        expect(await producer.offer(queue, payload, 0, FOLLOW)).toEqual({
          id: FOLLOW.id,
          dueAt,
          created: false,
          follows: true,
        });
      }
      expect(await producer.counts(queue)).toMatchObject({ delayed: 0, ready: 0, active: 1 });
      held.open();
      await until(() => calls.length === 2);
      await until(() => isEmpty(producer, queue));
      expect(calls.map(({ payload }) => payload)).toEqual(['first', 'third']);
    },
  );

  test('replaces a message that dies, which is still logged as a dead letter', async () => {
    const queue = scene.newQueue();
    const { held, calls, handle } = heldHandler();
    const { producer, log } = await scene.startApp({ providers: [handlerOf(queue, handle, { attempts: 1 })] });
    await producer.offer(queue, 'fails', 0, FOLLOW);
    await until(() => calls.length === 1);
    await producer.offer(queue, 'second', 0, FOLLOW);
    held.open();
    await until(() => calls.length === 2);
    await until(() => isEmpty(producer, queue));
    expect(calls[1]).toEqual({ payload: 'second', attempt: 1 });
    expect(log.filter((line) => line.includes(`message ${FOLLOW.id} is a dead letter`))).toHaveLength(1);
  });

  test('waits while the active message is retried', async () => {
    const queue = scene.newQueue();
    const held = new Latch();
    const calls: unknown[] = [];
    const { producer } = await scene.startApp({
      providers: [
        handlerOf(
          queue,
          async (payload) => {
            calls.push(payload);
            if (calls.length === 1) await held.opened;
            if (calls.length < 3) throw new Error('as told');
          },
          { backoff: { type: 'fixed', delay: 1 } },
        ),
      ],
    });
    await producer.offer(queue, 'first', 0, FOLLOW);
    await until(() => calls.length === 1);
    await producer.offer(queue, 'second', 0, FOLLOW);
    held.open();
    await until(() => calls.length === 4);
    await until(() => isEmpty(producer, queue));
    expect(calls).toEqual(['first', 'first', 'first', 'second']);
  });

  test('is withdrawn by cancel(), while the active message continues', async () => {
    const queue = scene.newQueue();
    const { held, calls, handle } = heldHandler();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handle)] });
    await producer.offer(queue, 'first', 0, FOLLOW);
    await until(() => calls.length === 1);
    expect(await producer.cancel(queue, FOLLOW.id)).toBe(false);
    await producer.offer(queue, 'second', 0, FOLLOW);
    expect(await producer.cancel(queue, FOLLOW.id)).toBe(true);
    held.open();
    await until(() => isEmpty(producer, queue));
    expect(calls).toHaveLength(1);
  });

  test('is refused by a layout without followers before anything is written', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { defaults: { layout: redisson() } } });
    await expect(producer.offer(queue, 1, '1h', FOLLOW)).rejects.toMatchObject({
      code: 'UNSUPPORTED_BY_LAYOUT',
      message: expect.stringMatching(/^onDuplicate: 'follow': layout 'redisson'/),
    });
    expect(await isEmpty(producer, queue)).toBe(true);
  });

  test('is listed among the offers of an application under test, and handled after its own delay', async () => {
    const calls: unknown[] = [];
    const handler = handlerOf('reindex', async (payload) => {
      calls.push(payload);
      if (payload === 'first') await module.get(DelayQueueProducer).offer('reindex', 'second', '5m', FOLLOW);
    });
    const module: TestingModule = await Test.createTestingModule({
      imports: [DelayQueueModule.forRoot({ connection: scene.url }), DelayQueueTestingModule],
      providers: [handler],
    }).compile();
    await module.init();
    const producer = module.get(DelayQueueProducer);
    const queue = module.get(DelayQueueTester);
    await producer.offer('reindex', 'first', '1h', FOLLOW);
    await queue.advance('1h');
    expect(queue.offered('reindex')).toMatchObject([{ payload: 'first' }, { payload: 'second', delay: 300_000 }]);
    expect(calls).toEqual(['first']);
    await queue.advance('5m');
    expect(calls).toEqual(['first', 'second']);
    await module.close();
  });
});
