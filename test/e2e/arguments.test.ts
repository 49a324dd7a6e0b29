import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer, QueueOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const YEAR = 365 * 24 * 60 * 60 * 1000;
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('what a producer is given', () => {
  const scene = new Scene();
  const keys = () => scene.redis.keys(`${scene.prefix}:*`);

  /** Of what is wrong nothing may reach Redis. */
  async function expectRefused(call: (producer: DelayQueueProducer) => Promise<unknown>, code: string): Promise<void> {
    const before = await keys();
    const { producer } = await scene.startApp({ module: { defaults: { maxPayloadBytes: 100 } } });
    await expect(call(producer)).rejects.toMatchObject({ name: 'DelayQueueError', code });
    expect((await keys()).sort()).toEqual(before.sort());
  }

  test.each([-1, NaN, 1.5, 2 ** 53, Infinity, 101 * YEAR, '5 parsecs', '', '-1s', '0.5ms', null, undefined, {}, 5n])(
    'a delay of %p is refused before anything is written',
    async (delay) => {
      const queue = scene.newQueue();
      await expectRefused((producer) => producer.offer(queue, 1, delay as number), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.reschedule(queue, 'm', delay as number), 'INVALID_ARGUMENT');
    },
  );

  test('one bad message of many keeps all of them out', () =>
    expectRefused(
      (producer) =>
        producer.offerMany(scene.newQueue(), [
          { payload: 1, delay: 5 },
          { payload: 2, delay: -5 },
        ]),
      'INVALID_ARGUMENT',
    ));

  test.each([new Date(NaN), new Date(-1), new Date(8.64e15), 'tomorrow', 1_000_000])(
    'the date %p is refused before anything is written',
    (date) => expectRefused((producer) => producer.offerAt(scene.newQueue(), 1, date as Date), 'INVALID_ARGUMENT'),
  );

  test.each(['', 'a b', 'a{b}', '{}', 'a\nb', 'ä', 'x'.repeat(129), 7, null, undefined])(
    'the queue name %p is refused before anything is written',
    async (queue) => {
      const name = queue as string;
      await expectRefused((producer) => producer.offer(name, 1, 1), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.counts(name), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.pause(name), 'INVALID_ARGUMENT');
      // eslint-disable-next-line @typescript-eslint/require-await -- only so that a throw is a rejection too
      await expectRefused(async (producer) => producer.deadLetters(name), 'INVALID_ARGUMENT');
    },
  );

  test.each(['', 'a\nb', '\u0000', 'x'.repeat(257), 'ä'.repeat(129), 5, null])(
    'the id %p is refused before anything is written',
    (id) =>
      expectRefused((producer) => producer.offer(scene.newQueue(), 1, 1, { id: id as string }), 'INVALID_ARGUMENT'),
  );

  test.each([{ headers: { a: 1 } }, { headers: ['a'] }, { onDuplicate: 'ignore' }, { ttl: 5 }])(
    'the options %j are refused before anything is written',
    (options) =>
      expectRefused((producer) => producer.offer(scene.newQueue(), 1, 1, options as object), 'INVALID_ARGUMENT'),
  );

  test.each([
    ['undefined', undefined],
    ['a BigInt', 1n],
    ['a BigInt inside', { a: [1n] }],
    ['a cycle', cyclic],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
  ])('a payload of %s is refused before anything is written', (_what, payload) =>
    expectRefused((producer) => producer.offer(scene.newQueue(), payload, 1), 'INVALID_PAYLOAD'),
  );

  test.each<[string, unknown, Record<string, string>, QueueOptions]>([
    ['text', 'x'.repeat(98), {}, {}],
    ['text of long characters', '€'.repeat(32) + 'xx', {}, {}],
    ['bytes', Buffer.alloc(100), {}, {}],
    ['bytes with headers', Buffer.alloc(86), { a: 'tenant' }, {}],
    ['text with headers', 'x'.repeat(84), { a: 'tenant' }, {}],
    ["text in Redisson's layout", 'x'.repeat(100), {}, { layout: 'redisson', codec: 'string' }],
  ])(
    '%s of as many bytes as the limit is taken, and one byte more is refused before anything is written',
    async (_what, payload, headers, options) => {
      const queue = scene.newQueue();
      const longer = typeof payload === 'string' ? `${payload}x` : Buffer.concat([payload as Buffer, Buffer.alloc(1)]);
      const stores = ['redis', 'memory'] as const;
      for (const store of stores) {
        const module = { store, queues: { [queue]: { ...options, maxPayloadBytes: 100 } } };
        const { producer } = await scene.startApp({ module });
        await expect(producer.offer(queue, longer, '1h', { headers })).rejects.toMatchObject({
          code: 'PAYLOAD_TOO_LARGE',
          message: expect.stringContaining('take 101 bytes, over the 100 of maxPayloadBytes'),
        });
        expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
        const { id } = await producer.offer(queue, payload, '1h', { headers });
        expect(await producer.find(queue, id)).toMatchObject({ payload });
      }
    },
  );

  test.each([
    ['0 ms', 0, 0],
    ['2³¹ ms', 2 ** 31, 2 ** 31],
    ['ten years', 10 * YEAR, 10 * YEAR],
    ["'1.5h'", '1.5h', 5_400_000],
    ["'100y'", '100y', 100 * 365.25 * 24 * 60 * 60 * 1000],
  ])('a delay of %s ends when it says', async (_what, delay, milliseconds) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const before = Date.now();
    const { id, dueAt } = await producer.offer(queue, 1, delay);
    expect(dueAt.getTime() - milliseconds).toBeGreaterThanOrEqual(before - 1);
    expect(dueAt.getTime() - milliseconds).toBeLessThan(before + 2000);
    expect((await producer.find(queue, id))?.dueAt).toEqual(dueAt);
  });

  test('a message due in 2³¹ ms or in ten years is not handled now', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 1, 2 ** 31);
    await producer.offer(queue, 1, 10 * YEAR);
    await producer.offer(queue, 1, 100, { id: 'soon' });
    await handled.until('soon');
    expect(handled.ids).toEqual(['soon']);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
  });

  test.each([
    ['null', null],
    ['false', false],
    ['an empty text', ''],
    ['text of all kinds', 'line\nbreak \u2028 "quoted" \u0000 €😀'],
    ['nested data', { a: [1, { b: null }], c: 1.5e300 }],
    ['all bytes', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
    ['no bytes', Buffer.alloc(0)],
  ])('%s arrives as it was offered', async (_what, payload) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    const headers = { trace: 'a\nb: "c" €' };
    await producer.offer(queue, payload, 0, { id: 'plain' });
    await producer.offer(queue, payload, 0, { id: 'with headers', headers });
    await handled.untilCalls(2);
    for (const call of handled.calls) expect(call.payload).toEqual(payload);
    expect(handled.of('with headers')[0]!.message.headers).toEqual(headers);
  });

  test('a payload with a __proto__ key pollutes nothing', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, JSON.parse('{"__proto__":{"polluted":true},"a":1}'), 0);
    const { payload } = await handled.untilCalls(1);
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
