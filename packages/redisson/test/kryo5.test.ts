import { describe, expect, test } from '@jest/globals';
import { type DelayQueueModuleOptions } from '../../../lib/index.js';
import { kryo5, type PayloadCodec, redisson, redissonQueue } from '../src/index.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { encodeEntry } from './java/entry.codec.js';
import { readGoldenKryoFixtures } from './java/golden/golden.js';
import { KRYO_FIXTURE_CLASSES } from './java/kryo-fixture-classes.js';
import { Handled } from '../../../test/support/handled.js';
import { redissonQueuesOf } from './redisson-queues.js';
import { Scene } from '../../../test/support/scene.js';
import { handlerOf } from '../../../test/support/test-app.js';
import { until } from '../../../test/support/until.js';

const { hex } = readGoldenKryoFixtures().find(({ fixture }) => fixture === 'order')!;
const order = Buffer.from(hex!, 'hex');
const declared = kryo5({ classes: KRYO_FIXTURE_CLASSES });

describe('an application that shares a queue of Kryo objects with Java', () => {
  const scene = new Scene();
  const newQueue = redissonQueuesOf(scene);

  const layout = (codec: PayloadCodec | 'kryo5'): DelayQueueModuleOptions => ({
    defaults: { layout: redisson({ codec }) },
  });

  test("handles Java's messages and offers them again with the same bytes", async () => {
    const queue = newQueue();
    const keys = redissonKeys({ prefix: scene.prefix, queue });
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: layout(declared),
      providers: [handlerOf(queue, handled.record)],
    });
    await scene.redis.rpush(keys.target, order);
    await handled.untilCalls(1);
    const { payload } = handled.calls[0]!;
    expect(payload).toMatchObject({ '@class': 'peer.Fixtures$OrderTimeout', orderId: 'o-1', price: '12.50' });
    await producer.offer(queue, payload, '1h');
    const [entry] = await scene.redis.lrangeBuffer(keys.entries, 0, -1);
    expect(entry!.subarray(-order.length)).toEqual(order);
  });

  test("finds and removes Java's messages by payload", async () => {
    const queue = newQueue();
    const keys = redissonKeys({ prefix: scene.prefix, queue });
    const { producer } = await scene.startApp({ module: { ...layout(declared), consume: false } });
    const entry = encodeEntry({ format: 'Bc0Lc0', id: Buffer.alloc(8, 1), value: order });
    await scene.redis.zadd(keys.timeouts, Date.now() + 3_600_000, entry);
    await scene.redis.rpush(keys.entries, entry);
    const values = redissonQueue(producer, queue);
    const payload = await values.peek();
    expect(await values.contains(payload)).toBe(true);
    expect(await values.remove(payload)).toBe(true);
    expect(await values.size()).toBe(0);
  });

  test('dead-letters an object of an undeclared class with an error that names the class', async () => {
    const queue = newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: layout('kryo5'),
      providers: [handlerOf(queue, handled.record)],
    });
    // A readable value shows that the codec is the right one.
    await producer.offer(queue, 'text', 0);
    await handled.untilCalls(1);
    await scene.redis.rpush(redissonKeys({ prefix: scene.prefix, queue }).target, order);
    await until(async () => (await producer.counts(queue)).dead === 1);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters[0]!.error.message).toContain(
      'class peer.Fixtures$OrderTimeout is not declared; add it to kryo5({ classes })',
    );
    expect(letters[0]!.payload).toEqual(order);
    expect(handled.payloads).toEqual(['text']);
  });

  test('refuses an offer that Java could not read, and writes nothing', async () => {
    const queue = newQueue();
    const { producer } = await scene.startApp({ module: { ...layout(declared), consume: false } });
    const payload = { '@class': 'peer.Fixtures$OrderTimeout', count: 1, status: 'LOST' };
    await expect(producer.offer(queue, payload, '1h')).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: 'payload.status: the value is not a declared constant of peer.Fixtures$Status',
    });
    expect(await redissonQueue(producer, queue).size()).toBe(0);
  });
});
