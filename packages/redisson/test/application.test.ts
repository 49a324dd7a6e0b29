import { describe, expect, test } from '@jest/globals';
import { type DelayQueueModuleOptions, DelayQueueProducer } from '../../../lib/index.js';
import { json, type PayloadCodec, redisson, type RedissonOptions, redissonQueue } from '../src/index.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { encodeEntry } from './java/entry.codec.js';
import { Handled } from '../../../test/support/handled.js';
import { redissonQueuesOf } from './redisson-queues.js';
import { Scene } from '../../../test/support/scene.js';
import { handlerOf } from '../../../test/support/test-app.js';
import { until } from '../../../test/support/until.js';

describe('an application with a queue in the Redisson layout', () => {
  const scene = new Scene();
  const newQueue = redissonQueuesOf(scene);

  const layout = (options?: RedissonOptions): DelayQueueModuleOptions => ({
    defaults: { layout: redisson(options) },
  });

  test('handles a message once, with its id, when it falls due', async () => {
    const queue = newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: layout(), providers: [handlerOf(queue, handled.record)] });
    const { dueAt } = await producer.offer(queue, { orderId: 7 }, 100, { id: 'unpaid:7' });
    await handled.untilCalls(1);
    expect(handled.calls[0]).toMatchObject({ id: 'unpaid:7', payload: { orderId: 7 }, attempt: 1 });
    expect(Date.now()).toBeGreaterThanOrEqual(dueAt.getTime());
    await until(async () => (await producer.counts(queue)).active === 0);
    expect(await producer.find(queue, 'unpaid:7')).toBeNull();
  });

  test('writes the same bytes as Redisson into the sorted set and the list', async () => {
    const queue = newQueue();
    const { producer } = await scene.startApp({ module: { ...layout({ codec: 'string' }), consume: false } });
    const { dueAt } = await producer.offer(queue, 'hello', '1h');
    const keys = redissonKeys({ prefix: scene.prefix, queue });
    const [entry, score] = await scene.redis.zrangeBuffer(keys.timeouts, 0, '-1', 'WITHSCORES');
    expect(entry!.toString('hex')).toMatch(/^08[0-9a-f]{16}050000000000000068656c6c6f$/);
    expect(Number(score)).toBe(dueAt.getTime());
    expect(await scene.redis.lrangeBuffer(keys.entries, 0, -1)).toEqual([entry]);
  });

  test.each<[name: string, codec: RedissonOptions['codec'], text: string]>([
    ['json', 'json', '{"orderId":"7","price":12.50,"weight":0.0}'],
    [
      'jackson',
      'jackson',
      '{"@class":"com.shop.Order","orderId":"7","price":["java.math.BigDecimal",12.50],"weight":0.0}',
    ],
    ['json with exact numbers', json({ numbers: 'exact' }), '{"z":{"10":1,"2":5.0},"a":12.50}'],
  ])(
    'finds and removes a message from Java by the payload that the application has read: codec %s',
    async (_name, codec, text) => {
      const queue = newQueue();
      const { producer } = await scene.startApp({ module: { ...layout({ codec }), consume: false } });
      const entry = encodeEntry({ format: 'Bc0Lc0', id: Buffer.alloc(8, 1), value: Buffer.from(text) });
      const keys = redissonKeys({ prefix: scene.prefix, queue });
      await scene.redis.zadd(keys.timeouts, Date.now() + 3_600_000, entry);
      await scene.redis.rpush(keys.entries, entry);
      const values = redissonQueue(producer, queue);
      const payload = await values.peek();
      expect(await values.contains(payload)).toBe(true);
      expect(await values.remove(payload)).toBe(true);
      expect(await values.size()).toBe(0);
    },
  );

  test('retries a failed message and redrives a dead letter', async () => {
    const queue = newQueue();
    let failing = true;
    const attempts: number[] = [];
    const handler = handlerOf(
      queue,
      (_payload, { attempt }) => {
        attempts.push(attempt);
        if (failing) throw new Error('no');
      },
      { attempts: 2, backoff: { type: 'fixed', delay: 10 } },
    );
    const { producer } = await scene.startApp({ module: layout(), providers: [handler] });
    await producer.offer(queue, { n: 1 }, 0, { id: 'm' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toMatchObject([{ id: 'm', payload: { n: 1 }, failedAttempts: 2 }]);
    failing = false;
    expect(await producer.deadLetters(queue).redrive('m')).toBe(true);
    await until(() => attempts.length === 3);
    expect(attempts).toEqual([1, 2, 1]);
  });

  test('cancels and reschedules messages by id, and pauses and clears the queue', async () => {
    const queue = newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: layout(), providers: [handlerOf(queue, handled.record)] });
    await producer.pause(queue);
    for (const id of ['a', 'b', 'c']) await producer.offer(queue, id, '1h', { id });
    expect(await producer.cancel(queue, 'a')).toBe(true);
    expect(await producer.reschedule(queue, 'b', 0)).toBe(true);
    await until(async () => (await producer.counts(queue)).ready === 1);
    expect(await producer.cancel(queue, 'b')).toBe(false);
    await producer.resume(queue);
    await handled.untilCalls(1);
    expect(handled.calls[0]).toMatchObject({ id: 'b', payload: 'b' });
    await until(async () => (await producer.counts(queue)).active === 0);
    expect(await producer.clear(queue)).toBe(1);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('finds delayed messages by their payloads', async () => {
    const queue = newQueue();
    const { producer } = await scene.startApp({ module: { ...layout(), consume: false } });
    for (const orderId of [1, 2, 3, 3]) await producer.offer(queue, { orderId }, '1h', { id: `${orderId}` });
    const values = redissonQueue(producer, queue);
    expect(await values.size()).toBe(3);
    expect(await values.readAll()).toEqual([{ orderId: 1 }, { orderId: 2 }, { orderId: 3 }]);
    expect(await values.contains({ orderId: 2 })).toBe(true);
    expect(await values.remove({ orderId: 2 })).toBe(true);
    expect(await values.remove({ orderId: 2 })).toBe(false);
    expect(await values.contains({ orderId: 2 })).toBe(false);
    expect(await producer.find(queue, '2')).toBeNull();
    expect(await values.peek()).toEqual({ orderId: 1 });
    expect(await values.poll()).toEqual({ orderId: 1 });
    expect(await values.poll()).toEqual({ orderId: 3 });
    expect(await values.poll()).toBeNull();
    expect(await values.peek()).toBeNull();
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
  });

  test('uses a custom codec in both directions', async () => {
    const reversed: PayloadCodec = {
      encode: (payload) => Buffer.from(JSON.stringify(payload)).reverse(),
      decode: (bytes) => JSON.parse(Buffer.from(bytes).reverse().toString()) as unknown,
    };
    const queue = newQueue();
    const handled = new Handled();
    const app = await scene.startApp({
      module: layout({ codec: reversed }),
      providers: [handlerOf(queue, handled.record)],
    });
    await app.producer.offer(queue, { a: 1 }, 0);
    await handled.untilCalls(1);
    expect(handled.calls[0]).toMatchObject({ payload: { a: 1 } });
  });

  test('refuses unsupported offers before writing anything', async () => {
    const queue = newQueue();
    const native = scene.newQueue();
    const module = {
      ...layout({ codec: 'string' }),
      queues: { [native]: { layout: 'native' } as const },
    };
    const { producer } = await scene.startApp({ module: { ...module, consume: false } });
    const refusals: [Promise<unknown>, string][] = [
      [producer.offer(queue, 'text', 0, { headers: { tenant: 'a' } }), 'UNSUPPORTED_BY_LAYOUT'],
      [producer.offer(queue, { no: 'text' }, 0), 'INVALID_PAYLOAD'],
    ];
    for (const [call, code] of refusals) await expect(call).rejects.toMatchObject({ code });
    expect(() => redissonQueue(producer, native)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_BY_LAYOUT' }));
    expect(() => redissonQueue(producer, native)).toThrow('only the layout redisson()');
    expect(await scene.redis.keys(`*${queue}*`)).toEqual([]);
  });

  test('does not warn that nobody handles the queue, because Java may be handling it', async () => {
    const [queue, native] = [newQueue(), scene.newQueue()];
    const { producer, log } = await scene.startApp({ module: { queues: { [queue]: { layout: redisson() } } } });
    for (const each of [queue, native]) await producer.offer(each, 1, '1h');
    const reported = () => log.filter((line) => line.includes('has ever handled'));
    await until(() => reported().length > 0);
    expect(reported()).toEqual([expect.stringContaining(native)]);
  });

  test('does not find messages by payload in the memory store', async () => {
    const { producer } = await scene.startApp({ module: { ...layout({}), store: 'memory' } });
    expect(() => redissonQueue(producer, newQueue())).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_BY_LAYOUT' }),
    );
    expect(() => redissonQueue(producer, newQueue())).toThrow("store 'memory'");
  });

  test.each([
    ['an object', {}],
    ['a test double of the producer', new (class extends DelayQueueProducer {})()],
  ])('refuses %s in place of the producer', (_what, producer) => {
    expect(() => redissonQueue(producer as DelayQueueProducer, 'orders')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });

  test.each([
    [{ codec: 'jackson' }, 'give it to the function that makes the layout'],
    [{ format: 'dLc0' }, 'give it to the function that makes the layout'],
    [{ layout: 'redisson' }, "must be 'native' or a layout object, made by the package that has the layout"],
  ])('fails to start with the options %j and suggests what to write instead', async (options, advice) => {
    const module = { queues: { orders: options } } as DelayQueueModuleOptions;
    await expect(scene.startApp({ module })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(advice),
    });
  });
});
