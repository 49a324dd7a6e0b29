import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { type DelayQueueModuleOptions } from '../../../lib/index.js';
import { type CodecName, json, type PayloadCodec, redisson } from '../src/index.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { encodeEntry } from './java/entry.codec.js';
import { wireCodecs } from './wire-codecs.js';
import { Handled } from '../../../test/support/handled.js';
import { redissonQueuesOf } from './redisson-queues.js';
import { Scene } from '../../../test/support/scene.js';
import { handlerOf } from '../../../test/support/test-app.js';
import { until } from '../../../test/support/until.js';

const MANY = 12_000;
const A_PART = 1000;
const isHalted = (log: readonly string[]) => log.some((line) => line.includes('has stopped handling'));

describe('a queue in the Redisson layout with the wrong codec', () => {
  const scene = new Scene();
  const newQueue = redissonQueuesOf(scene);

  const wired = (codec: CodecName): DelayQueueModuleOptions => ({ defaults: { layout: redisson({ codec }) } });

  /** Puts values into the target list, as Java's transfer does. */
  async function transferByJava(queue: string, values: readonly Buffer[]): Promise<void> {
    for (let at = 0; at < values.length; at += A_PART) await scene.redis.rpush(queue, ...values.slice(at, at + A_PART));
  }

  test(`loses none of ${MANY} messages, stops handling, names the right codec, and then handles them all with that codec`, async () => {
    const queue = newQueue();
    const texts = Array.from({ length: MANY }, (_, i) => `order ${i}`);
    await transferByJava(
      queue,
      texts.map((text) => wireCodecs.kryo5.encode(text)),
    );
    const confused = await scene.startApp({
      module: wired('json'),
      providers: [handlerOf(queue, () => undefined, { concurrency: 64, maxDeadLetters: 0 })],
    });
    await until(() => confused.log.some((line) => line.includes('has stopped handling')));
    const halted = confused.log.find((line) => line.includes('has stopped handling'))!;
    expect(halted).toContain(`${queue}: this process has stopped handling the queue`);
    expect(halted).toContain("codec 'json'");
    expect(halted).toContain("Kryo5: codec 'kryo5'");
    const { delayed, ready, active, dead } = await confused.producer.counts(queue);
    expect({ all: delayed + ready + active, dead }).toEqual({ all: MANY, dead: 0 });
    expect(delayed).toBeLessThanOrEqual(128);
    await confused.close();

    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: wired('kryo5'),
      providers: [handlerOf(queue, handled.record, { concurrency: 64 })],
    });
    await until(async () => (await producer.counts(queue)).ready === 0);
    // Messages that were put off are due after half a minute.
    const { messages } = await producer.list(queue, 'delayed', { limit: 200 });
    for (const { id } of messages) await producer.reschedule(queue, id, 0);
    await handled.untilCalls(MANY);
    expect(new Set(handled.payloads).size).toBe(MANY);
  });

  describe.each<[what: string, values: readonly Buffer[]]>([
    ['Longs', Array.from({ length: 200 }, (_, i) => wireCodecs.jackson.encode(BigInt(i)))],
    ['objects', Array.from({ length: 200 }, (_, i) => Buffer.from(`{"@class":"com.shop.Order","id":"${i}"}`))],
    ['lists', Array.from({ length: 200 }, (_, i) => wireCodecs.jackson.encode([i, 'a']))],
    ['records', Array.from({ length: 200 }, (_, i) => Buffer.from(`{"amount":["java.lang.Long",${i}]}`))],
  ])('%s written by JsonJacksonCodec but readable by the json codec', (_what, values) => {
    test('are handled only with the right codec', async () => {
      const queue = newQueue();
      await transferByJava(queue, values);
      const wrong = new Handled();
      const confused = await scene.startApp({
        module: wired('json'),
        providers: [handlerOf(queue, wrong.record, { concurrency: 64 })],
      });
      await until(async () => isHalted(confused.log) || (await confused.producer.counts(queue)).ready === 0);
      expect(wrong.payloads).toEqual([]);
      await until(() => isHalted(confused.log));
      const halted = confused.log.find((line) => line.includes('has stopped handling'))!;
      expect(halted).toContain("(JsonJacksonCodec): codec 'jackson'");
      expect(halted).toContain('json({ typeInfo: true })');
      const { delayed, ready, active, dead } = await confused.producer.counts(queue);
      expect({ all: delayed + ready + active, dead }).toEqual({ all: values.length, dead: 0 });
      await confused.close();

      const handled = new Handled();
      const { producer } = await scene.startApp({
        module: wired('jackson'),
        providers: [handlerOf(queue, handled.record, { concurrency: 64 })],
      });
      await until(async () => (await producer.counts(queue)).ready === 0);
      const { messages } = await producer.list(queue, 'delayed', { limit: 200 });
      for (const { id } of messages) await producer.reschedule(queue, id, 0);
      await handled.untilCalls(values.length);
    });
  });

  test("stops handling Java's messages even after one from Node was handled", async () => {
    const queue = newQueue();
    const { log, producer } = await scene.startApp({
      module: wired('json'),
      providers: [handlerOf(queue, () => undefined)],
    });
    await producer.offer(queue, { from: 'Node' }, 0);
    await until(async () => (await producer.counts(queue)).delayed === 0);
    await transferByJava(
      queue,
      Array.from({ length: 20 }, (_, i) => Buffer.from(`{"@class":"com.shop.Order","id":"${i}"}`)),
    );
    await until(() => isHalted(log));
    expect((await producer.counts(queue)).dead).toBe(0);
  });

  test.each<[writer: string, value: Buffer]>([
    ['JsonJacksonCodec', Buffer.from('{"@class":"com.shop.Order","id":"1"}')],
    ['Kryo5', wireCodecs.kryo5.encode('order 1')],
  ])('rejects offers from a process that only produces if Java uses %s', async (writer, value) => {
    const queue = newQueue();
    const keys = redissonKeys({ prefix: scene.prefix, queue });
    const { producer } = await scene.startApp({ module: { ...wired('json'), consume: false } });
    const entry = encodeEntry({ format: 'Bc0Lc0', id: randomBytes(8), value });
    await scene.redis.multi().zadd(keys.timeouts, 4_000_000_000_000, entry).rpush(keys.entries, entry).exec();
    await expect(producer.offer(queue, { id: '2' }, '1h')).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(new RegExp(`${queue}.*codec 'json'.*${writer}.*Nothing was written`)),
    });
    expect(await scene.redis.zcard(keys.timeouts)).toBe(1);

    const plain = encodeEntry({ format: 'Bc0Lc0', id: randomBytes(8), value: Buffer.from('{"id":"1"}') });
    await scene.redis.multi().zadd(keys.timeouts, 4_000_000_000_000, plain).rpush(keys.entries, plain).exec();
    expect(await producer.offer(queue, { id: '2' }, '1h')).toMatchObject({ created: true });
  });

  test.each<[what: string, codec: PayloadCodec | 'json', values: readonly string[]]>([
    [
      'whose classes have @JsonTypeInfo, if the codec declares it',
      json({ typeInfo: true }),
      Array.from({ length: 20 }, (_, i) => `{"@class":"com.shop.Order","id":"${i}"}`),
    ],
    [
      'that contains class names as data',
      'json',
      [
        '["com.shop.Order","o-1"]',
        '["java.lang.Long","java.util.Date"]',
        '{"id":"1","@class":"b"}',
        '["order.Paid",5]',
      ],
    ],
    [
      'after an object without a class name, whatever else follows',
      'json',
      ['{"id":"1"}', ...Array.from({ length: 20 }, (_, i) => `{"@class":"com.shop.Order","id":"${i}"}`)],
    ],
  ])('raises no alarm about plain JSON %s', async (_what, codec, values) => {
    const queue = newQueue();
    await transferByJava(
      queue,
      values.map((value) => Buffer.from(value)),
    );
    const handled = new Handled();
    await scene.startApp({
      module: { defaults: { layout: redisson({ codec }) } },
      providers: [handlerOf(queue, handled.record, { concurrency: 1 })],
    });
    await handled.untilCalls(values.length);
    expect(new Set(handled.payloads).size).toBe(values.length);
  });

  test('keeps handling if only some messages are broken, and dead-letters those with their original bytes', async () => {
    const queue = newQueue();
    const broken = Array.from({ length: 9 }, (_, i) => Buffer.from(`{${i}`));
    const good = Array.from({ length: 5 }, (_, i) => Buffer.from(`{"n":${i}}`));
    await transferByJava(queue, [...good.slice(0, 2), ...broken, ...good.slice(2)]);
    const handled = new Handled();
    const { producer, log } = await scene.startApp({
      module: wired('json'),
      providers: [handlerOf(queue, handled.record, { maxDeadLetters: 1 })],
    });
    await handled.untilCalls(5);
    await until(async () => (await producer.counts(queue)).dead === broken.length);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters.map(({ payload }) => payload)).toEqual(broken);
    expect(letters.every(({ error }) => error.name === 'UnreadableBody')).toBe(true);
    expect(log.some((line) => line.includes('has stopped handling'))).toBe(false);
    await transferByJava(queue, [Buffer.from('{"n":6}')]);
    await handled.untilCalls(6);
  });
});
