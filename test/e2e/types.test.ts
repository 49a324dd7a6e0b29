import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import { again, DelayedHandler, type DelayedMessage, DelayQueueError, type HandlerOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

type Handle = (payload: unknown, message: DelayedMessage) => unknown;

/** A provider with a handler of one type. */
function handlerOfType(queue: string, type: string, handle: Handle, options?: HandlerOptions): Type {
  @Injectable()
  class TypedHandler {
    @DelayedHandler(queue, type, options)
    handleType(payload: unknown, message: DelayedMessage): unknown {
      return handle(payload, message);
    }
  }
  return TypedHandler;
}

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('a queue with types, on %s', (_, module) => {
  const scene = new Scene();

  test('routes each message to the handler of its type, and others to the handler without a type', async () => {
    const queue = scene.newQueue();
    const [cancel, remind, rest] = [new Handled(), new Handled(), new Handled()];
    const { producer } = await scene.startApp({
      module,
      providers: [
        handlerOfType(queue, 'cancel', cancel.record),
        handlerOfType(queue, 'remind', remind.record),
        handlerOf(queue, rest.record),
      ],
    });
    await producer.offer(queue, 1, 0, { id: 'a', type: 'cancel' });
    await producer.offerAt(queue, 2, new Date(0), { id: 'b', type: 'remind', headers: { tenant: 't' } });
    await producer.offerMany<unknown>(queue, [
      { id: 'c', payload: 3, delay: 0 },
      { id: 'd', payload: Buffer.from('4'), delay: 0, type: 'other' },
    ]);
    await until(async () => (await producer.counts(queue)).active === 0 && rest.calls.length === 2);
    const seen = ({ calls }: Handled) => calls.map(({ id, payload, message }) => [id, message.type, payload]);
    expect(seen(cancel)).toEqual([['a', 'cancel', 1]]);
    expect(seen(remind)).toEqual([['b', 'remind', 2]]);
    expect(seen(rest).sort()).toEqual([
      ['c', '', 3],
      ['d', 'other', Buffer.from('4')],
    ]);
    expect(remind.calls[0]!.message.headers).toEqual({ tenant: 't' });
  });

  test('has a separate count for each type, whatever its name', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    expect(await producer.countsByType(queue)).toEqual(new Map());
    const types = ['__proto__', 'constructor', '7', undefined];
    const messages = Array.from({ length: 600 }, (_, i) => ({ payload: i, delay: '1h', type: types[i % 4] }));
    await producer.offerMany(queue, messages);
    await producer.cancel(queue, (await producer.offer(queue, 1, '1h', { type: 'gone' })).id);
    const counts = { delayed: 150, ready: 0, active: 0, dead: 0 };
    const byType = await producer.countsByType(queue);
    expect(byType).toEqual(new Map(['__proto__', 'constructor', '7', ''].map((type) => [type, counts])));
  });

  test('shows types in find() and on messages redelivered by again()', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module,
      providers: [
        handlerOfType(queue, 'remind', (payload, message) => {
          handled.record(payload, message);
          if (handled.calls.length === 1) return again(0, { payload: 'once more' });
          throw new Error('no');
        }),
      ],
    });
    await producer.offer(queue, 1, '1h', { id: 'later', type: 'remind' });
    await producer.offer(queue, 1, '1h', { id: 'plain' });
    expect(await producer.find(queue, 'later')).toMatchObject({ type: 'remind', payload: 1 });
    expect(await producer.find(queue, 'plain')).toMatchObject({ type: '', payload: 1 });
    await producer.offer(queue, 1, 0, { id: 'now', type: 'remind' });
    await handled.untilCalls(2);
    expect(handled.calls.map(({ payload, message }) => [payload, message.type])).toEqual([
      [1, 'remind'],
      ['once more', 'remind'],
    ]);
  });

  test('may have a timeout and a backoff for each type, which the deployment overrides', async () => {
    const [queue, deployed] = [scene.newQueue(), scene.newQueue()];
    const hang = () => new Promise(() => undefined);
    const fail = () => Promise.reject(new Error('no'));
    const options: HandlerOptions = { timeout: 10, backoff: { type: 'fixed', delay: '3h' } };
    const { producer } = await scene.startApp({
      module: {
        ...module,
        defaults: { backoff: { type: 'fixed', delay: '1h' } },
        queues: { [deployed]: { backoff: { type: 'fixed', delay: '2h' } } },
      },
      providers: [
        handlerOfType(queue, 'slow', hang, options),
        handlerOf(queue, fail),
        handlerOfType(deployed, 'slow', hang, options),
      ],
    });
    const retriedAfter = async (name: string, type?: string) => {
      const { id, dueAt } = await producer.offer(name, null, 0, type === undefined ? {} : { type });
      await until(async () => (await producer.find(name, id))?.failedAttempts === 1);
      return Math.round(((await producer.find(name, id))!.dueAt.getTime() - dueAt.getTime()) / 3_600_000);
    };
    expect(await retriedAfter(queue, 'slow')).toBe(3);
    expect(await retriedAfter(queue)).toBe(1);
    expect(await retriedAfter(deployed, 'slow')).toBe(2);
  });

  test('lets a message without a handler wait without spending an attempt', async () => {
    const queue = scene.newQueue();
    const { producer, log } = await scene.startApp({
      module,
      providers: [handlerOfType(queue, 'old', () => undefined)],
    });
    const { dueAt } = await producer.offer(queue, { id: 'a' }, 0, { id: 'a', type: 'new' });
    await producer.offer(queue, { id: 'b' }, 0, { id: 'b', type: 'new' });
    const dueOf = async (id: string) => (await producer.find(queue, id))!.dueAt.getTime();
    await until(async () => Math.min(await dueOf('a'), await dueOf('b')) > dueAt.getTime() + 1000);
    const found = (await producer.find(queue, 'a'))!;
    expect(found).toMatchObject({ state: 'delayed', failedAttempts: 0, type: 'new', payload: { id: 'a' } });
    expect(found.dueAt.getTime() - dueAt.getTime()).toBeGreaterThanOrEqual(24_000);
    expect(log.filter((line) => line.includes("no handler for type 'new'"))).toHaveLength(1);
  });

  test('turns a message without a handler into a dead letter after unknownTypeGrace, and lets it be redriven', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({
      module: { ...module, queues: { [queue]: { unknownTypeGrace: '300ms' } } },
      providers: [handlerOfType(queue, 'old', () => undefined)],
    });
    const dead = () => until(async () => (await producer.counts(queue)).dead === 1);
    await producer.offer(queue, { a: 1 }, 0, { id: 'a', type: 'new' });
    await dead();
    const letter = (await producer.deadLetters(queue).list()).messages[0]!;
    expect(letter).toMatchObject({ type: 'new', payload: { a: 1 }, error: { name: 'UnknownType' } });
    expect(letter.diedAt.getTime() - letter.offeredAt.getTime()).toBeGreaterThanOrEqual(300);

    expect(await producer.deadLetters(queue).redriveAll()).toBe(1);
    await dead();
    const again = (await producer.deadLetters(queue).list()).messages[0]!;
    expect(again.diedAt.getTime() - letter.diedAt.getTime()).toBeGreaterThanOrEqual(300);
    expect(again.payload).toEqual({ a: 1 });
  });

  test.each([
    ['two words', 'a type'],
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['not a string', 5 as never],
  ])('refuses an offer before anything is written if its type is %s', async (_what, type) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module, providers: [] });
    const refusal = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('type: a message type has 1–64') };
    await expect(producer.offer(queue, 1, 0, { type })).rejects.toMatchObject(refusal);
    await expect(
      producer.offerMany(queue, [
        { payload: 1, delay: 0 },
        { payload: 1, delay: 0, type },
      ]),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('messages[1]: type:'),
    });
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });
});

describe('handlers of types', () => {
  const scene = new Scene();
  const memory = { store: 'memory' as const };
  const nothing = () => undefined;

  const startUp = (providers: Type[], module = {}) => scene.startApp({ module: { ...memory, ...module }, providers });

  test('make startup fail if two of them are for the same type of a queue', async () => {
    const providers = [handlerOfType('orders', 'cancel', nothing), handlerOfType('orders', 'cancel', nothing)];
    await expect(startUp(providers)).rejects.toMatchObject({
      code: 'INVALID_HANDLER',
      message: expect.stringContaining("Type 'cancel' of queue 'orders' has two handlers, TypedHandler.handleType and"),
    });
  });

  test('may handle one type in each of two queues', async () => {
    const { log } = await startUp([
      handlerOfType('orders', 'cancel', nothing),
      handlerOfType('trips', 'cancel', nothing),
    ]);
    expect(log.filter((line) => line.includes("type 'cancel'"))).toHaveLength(2);
  });

  test.each([
    ['two words', 'a type'],
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
  ])('make startup fail if a type is %s', async (_what, type) => {
    await expect(startUp([handlerOfType('orders', type, nothing)])).rejects.toMatchObject({
      code: 'INVALID_HANDLER',
      message: expect.stringContaining('TypedHandler.handleType: a message type has 1–64'),
    });
  });

  test('make startup fail if one of them has queue options, and the error says where these belong', async () => {
    const provider = handlerOfType('orders', 'cancel', nothing, {
      timeout: '1s',
      concurrency: 2,
      lease: '5s',
    } as never);
    await expect(startUp([provider])).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/TypedHandler\.handleType: concurrency, lease: options of the queue.*`queues`/),
    });
  });

  test('make startup fail with an unknown or invalid option', async () => {
    for (const options of [{ tiemout: 1 }, { timeout: -1 }, 5]) {
      await expect(startUp([handlerOfType('orders', 'cancel', nothing, options as never)])).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('TypedHandler.handleType'),
      });
    }
  });

  test("make startup fail with layout 'redisson', and offers with types are refused", async () => {
    const queue = scene.newQueue();
    const module = { queues: { [queue]: { layout: redisson() } } };
    await expect(
      scene.startApp({ module, providers: [handlerOfType(queue, 'cancel', nothing)] }),
    ).rejects.toMatchObject({
      code: 'INVALID_HANDLER',
      message: expect.stringMatching(/TypedHandler\.handleType.*layout 'redisson'/),
    });
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, nothing)] });
    const refusal = await producer.offer(queue, 1, 0, { type: 'cancel' }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DelayQueueError);
    expect(refusal).toMatchObject({ code: 'UNSUPPORTED_BY_LAYOUT', message: expect.stringContaining('type:') });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0, ready: 0 });
  });

  test('are logged at startup with their types', async () => {
    const { log } = await startUp([handlerOfType('orders', 'cancel', nothing), handlerOf('orders', nothing)]);
    expect(log).toContain("log Handling queue 'orders', type 'cancel', with TypedHandler.handleType");
    expect(log).toContain("log Handling queue 'orders' with TestHandler.handle");
  });
});

describe("messages in Redisson's layout", () => {
  const scene = new Scene();

  test.each(['redis', 'memory'] as const)(
    'are all counted under no type, whatever their bytes, in store %s',
    async (store) => {
      const queue = scene.newQueue();
      const queues = { [queue]: { layout: redisson({ codec: 'string' }) } };
      const { producer } = await scene.startApp({ module: { store, queues } });
      await producer.offer(queue, 'Kremind\n', '1h');
      expect(await producer.countsByType(queue)).toEqual(new Map([['', await producer.counts(queue)]]));
    },
  );
});

describe("a body in a later version's form", () => {
  const scene = new Scene();

  test('waits for a process that can read it', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer, log } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 1, '1h', { id: 'a' });
    const record = (await scene.redis.hgetBuffer(scene.key(queue, 'messages'), 'a'))!;
    const later = Buffer.concat([record.subarray(0, 12), Buffer.from('Nzstd\n\x00\xff')]);
    await scene.redis.hset(scene.key(queue, 'messages'), 'a', later);
    await producer.reschedule(queue, 'a', 0);
    await until(() => log.some((line) => line.includes("form 'zstd'")));
    await until(async () => (await producer.find(queue, 'a'))?.state === 'delayed');
    expect(await producer.find(queue, 'a')).toMatchObject({ failedAttempts: 0 });
    const kept = (await scene.redis.hgetBuffer(scene.key(queue, 'messages'), 'a'))!;
    expect(kept.subarray(12).toString('latin1')).toMatch(/^W\d{13}\nNzstd\n/);
    expect(handled.calls).toEqual([]);
  });
});
