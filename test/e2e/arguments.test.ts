import { describe, expect, test } from '@jest/globals';
import { runInNewContext } from 'node:vm';
import type { DelayQueueProducer, QueueOptions } from '../../lib/index.js';
import { redisson, redissonQueue } from '../../lib/redisson/index.js';
import { Handled } from '../support/handled.js';
import { layouts } from '../support/layouts.js';
import { refuse } from '../support/odd-values.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const YEAR = 365 * 24 * 60 * 60 * 1000;
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

describe('the arguments of a producer', () => {
  const scene = new Scene();
  const keys = () => scene.redis.keys(`${scene.prefix}:*`);

  /** Nothing of a refused call may reach Redis. */
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

  test('one invalid message of a list keeps the whole list out', () =>
    expectRefused(
      (producer) =>
        producer.offerMany(scene.newQueue(), [
          { payload: 1, delay: 5 },
          { payload: 2, delay: -5 },
        ]),
      'INVALID_ARGUMENT',
    ));

  test.each<[string, unknown]>([
    ['null', null],
    ['an object', {}],
    ['text', 'x'],
    ['a set', new Set([{ payload: 1, delay: 1 }])],
    ['a list of null', [null]],
    ['a list with a hole', [, { payload: 1, delay: 1 }]], // eslint-disable-line no-sparse-arrays
    ['a list of a list', [[]]],
    [
      'a list with an unknown field',
      [
        { payload: 1, delay: 1 },
        { payload: 1, delay: 1, ttl: 5 },
      ],
    ],
    ['a list with a misplaced payload', [{ orderId: 7 }]],
    ['a list with a getter that throws', [{ delay: 1, get payload() { return refuse(); } }]], // prettier-ignore
    ['a list that throws', new Proxy([1], { get: refuse })],
    ['a revoked list', revoked([])],
  ])('%s in place of messages is refused before anything is written', (_what, messages) =>
    expectRefused((producer) => producer.offerMany(scene.newQueue(), messages as []), 'INVALID_ARGUMENT'),
  );

  test('the error names the invalid message of a list', async () => {
    const { producer } = await scene.startApp();
    const wrong: [object, string][] = [
      [{ payload: { a: [NaN] }, delay: 1 }, 'messages[1]: payload.a[0]: JSON cannot represent NaN'],
      [{ payload: 1, delay: -5 }, 'messages[1]: delay must be between'],
      [
        { payload: 1, delay: 5, ttl: 5 },
        "messages[1]: it: must be an object with payload, delay, type, id, headers, onDuplicate, not 'ttl'",
      ],
      [{ payload: 1, delay: 5, headers: { a: 1 } }, "messages[1]: headers['a'] must be text, not 1"],
    ];
    for (const [message, said] of wrong) {
      const call = producer.offerMany(scene.newQueue(), [
        { payload: 1, delay: 1 },
        message as { payload: 1; delay: 1 },
      ]);
      await expect(call).rejects.toThrow(said);
    }
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 5],
    ['a list', [1]],
    ['an unknown field', { nope: 1 }],
    ['a map', new Map([['limit', 1]])],
    ['a promise', Promise.resolve({ limit: 1 })],
    ['a getter that throws', { get limit() { return refuse(); } }], // prettier-ignore
    ['a limit of 0', { limit: 0 }],
    ['a limit of 1001', { limit: 1001 }],
    ['a limit of text', { limit: '5' }],
    ['a limit that cannot be shown', { limit: Object.create(null) as unknown }],
    ['a limit that is a symbol', { limit: Symbol('5') }],
    ['a cursor that no page returned', { cursor: 'x' }],
    ['a cursor that is a number', { cursor: 5 }],
    ['a cursor that is null', { cursor: null }],
    ['a cursor that cannot be shown', { cursor: { toString: refuse } }],
  ])('listing dead letters with %s is refused', (_what, query) =>
    expectRefused((producer) => producer.deadLetters(scene.newQueue()).list(query as object), 'INVALID_ARGUMENT'),
  );

  test.each<[string, unknown]>([
    ['null', null],
    ['an unknown field', { nope: 1 }],
    ['a limit of 0', { limit: 0 }],
    ['a limit of 1001', { limit: 1001 }],
    ['an offset of -1', { offset: -1 }],
    ['an offset of 1.5', { offset: 1.5 }],
    ['an offset of 2⁵³', { offset: 2 ** 53 }],
    ['an offset of text', { offset: '5' }],
    ['an offset that cannot be shown', { offset: Object.create(null) as unknown }],
    ['a cursor and an offset', { cursor: 'delayed:1:a', offset: 0 }],
    ['a cursor that no page returned', { cursor: 'x' }],
    ['a cursor of another state', { cursor: 'dead:1:a' }],
    ['a cursor that is null', { cursor: null }],
  ])('listing messages with %s is refused', (_what, query) =>
    expectRefused((producer) => producer.list(scene.newQueue(), 'delayed', query as object), 'INVALID_ARGUMENT'),
  );

  test.each(['', 'gone', 'constructor', 5, null, undefined, ['dead'], Symbol('dead')])(
    'listing messages of the state %p is refused',
    (state) => expectRefused((producer) => producer.list(scene.newQueue(), state as 'dead'), 'INVALID_ARGUMENT'),
  );

  test('a method that returns a promise rejects instead of throwing', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { queues: { [queue]: { layout: redisson() } } } });
    const calls: (() => Promise<unknown>)[] = [
      () => producer.offer('{}', 1, 1),
      () => producer.offerAt('{}', 1, new Date()),
      () => producer.offerMany('{}', []),
      ...(['cancel', 'find'] as const).map((method) => () => producer[method]('{}', 'm')),
      ...(['counts', 'countsByType', 'nextDue', 'isPaused', 'pause', 'resume', 'clear'] as const).map(
        (method) => () => producer[method]('{}'),
      ),
      () => producer.list('{}', 'dead'),
      ...(['redrive', 'discard'] as const).map((method) => () => producer.deadLetters(queue)[method]('')),
      ...(['contains', 'remove'] as const).map((method) => () => redissonQueue(producer, queue)[method](undefined)),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'DelayQueueError' });
  });

  test('a date of another realm or of a derived class is accepted as a date', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    class Odd extends Date {
      override getTime(): number {
        return NaN;
      }
    }
    for (const date of [runInNewContext('new Date(5e12)') as Date, new Odd(5e12)]) {
      expect(await producer.offerAt(queue, 1, date)).toMatchObject({ dueAt: new Date(5e12) });
    }
  });

  test.each([new Date(NaN), new Date(-1), new Date(8.64e15), 'tomorrow', 1_000_000])(
    'the date %p is refused before anything is written',
    (date) => expectRefused((producer) => producer.offerAt(scene.newQueue(), 1, date as Date), 'INVALID_ARGUMENT'),
  );

  test.each([
    '',
    'a b',
    'a{b}',
    '{}',
    'a\nb',
    'ä',
    'x'.repeat(129),
    7,
    5n,
    null,
    undefined,
    ['a'],
    Symbol('a'),
    new String('a'),
    { toString: () => 'a' },
  ])('the queue name %p is refused before anything is written', async (queue) => {
    const name = queue as string;
    await expectRefused((producer) => producer.offer(name, 1, 1), 'INVALID_ARGUMENT');
    await expectRefused((producer) => producer.counts(name), 'INVALID_ARGUMENT');
    await expectRefused((producer) => producer.pause(name), 'INVALID_ARGUMENT');
    // eslint-disable-next-line @typescript-eslint/require-await -- turns a throw into a rejection
    await expectRefused(async (producer) => producer.deadLetters(name), 'INVALID_ARGUMENT');
  });

  test.each(['', 'a\nb', '\u0000', 'x'.repeat(257), 'ä'.repeat(129), 5, null])(
    'the id %p is refused before anything is written',
    (id) =>
      expectRefused((producer) => producer.offer(scene.newQueue(), 1, 1, { id: id as string }), 'INVALID_ARGUMENT'),
  );

  test('ids with lone surrogates are refused, because UTF-8 would make different ones equal', async () => {
    const queue = scene.newQueue();
    for (const id of ['cut\ud83d', 'cut\ud83c', '\udc00']) {
      await expectRefused((producer) => producer.offer(queue, 1, 1, { id }), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.cancel(queue, id), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.reschedule(queue, id, 1), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.find(queue, id), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.deadLetters(queue).redrive(id), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.deadLetters(queue).discard(id), 'INVALID_ARGUMENT');
      await expectRefused((producer) => producer.counts(id), 'INVALID_ARGUMENT');
    }
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['text', 'unpaid:7'],
    ['a number', 7],
    ['a list', []],
    ['a map', new Map([['id', 'unpaid:7']])],
    ['a function', () => ({})],
    ['an unknown field', { ttl: 5 }],
    ['a getter that throws', { get id() { return refuse(); } }], // prettier-ignore
    ['a proxy that throws', new Proxy({}, { ownKeys: refuse })],
    ['an unknown onDuplicate', { onDuplicate: 'ignore' }],
    ['headers of numbers', { headers: { a: 1 } }],
    ['headers of undefined', { headers: { a: undefined } }],
    ['headers in a list', { headers: ['a'] }],
    ['headers of null', { headers: null }],
    ['headers in a map', { headers: new Map([['tenant', 'a']]) }],
    ['headers in a set', { headers: new Set(['a']) }],
    ['headers of the web', { headers: new Headers({ tenant: 'a' }) }],
    ['headers that were not awaited', { headers: Promise.resolve({ tenant: 'a' }) }],
    ['headers of a class that computes them', { headers: new (class { get tenant() { return refuse(); } })() }], // prettier-ignore
    ['headers with a getter that throws', { headers: { get tenant() { return refuse(); } } }], // prettier-ignore
    ['revoked headers', { headers: revoked({}) }],
    ['headers with a lone surrogate', { headers: { a: 'b\ud83d' } }],
    ['a header named by a lone surrogate', { headers: { '\ud83d': 'b' } }],
  ])('options of %s are refused before anything is written', async (_what, options) => {
    const queue = scene.newQueue();
    await expectRefused((producer) => producer.offer(queue, 1, 1, options as object), 'INVALID_ARGUMENT');
    await expectRefused((producer) => producer.offerAt(queue, 1, new Date(), options as object), 'INVALID_ARGUMENT');
  });

  test.each(['native', 'redisson'] as const)(
    'a lone surrogate in a payload comes back unchanged: %s',
    async (layout) => {
      const queue = scene.newQueue();
      const { producer } = await scene.startApp({ module: { queues: { [queue]: { layout: layouts[layout] } } } });
      const payload = { text: 'a\ud83d', '\udc00': ['\ud83c'] };
      const { id } = await producer.offer(queue, payload, '1h');
      expect(await producer.find(queue, id)).toMatchObject({ payload });
      await producer.clear(queue);
    },
  );

  test('headers with any characters come back unchanged, even one named __proto__', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const headers = JSON.parse(
      '{"__proto__":"p","constructor":"c","a\\nb":"\\u0000\\r\\n\\ud83d\\ude00","":""}',
    ) as Record<string, string>;
    const { id } = await producer.offer(queue, 1, '1h', { headers });
    const found = await producer.find(queue, id);
    expect(JSON.stringify(found?.headers)).toBe(JSON.stringify(headers));
    expect(Object.getPrototypeOf(found?.headers)).toBe(Object.prototype);
  });

  test.each([
    ['undefined', undefined],
    ['a BigInt', 1n],
    ['a BigInt inside', { a: [1n] }],
    ['a cycle', cyclic],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a promise that was not awaited', Promise.resolve(1)],
    ['a map inside', { a: new Map() }],
    ['a getter that throws', { get a() { return refuse(); } }], // prettier-ignore
  ])('a payload of %s is refused before anything is written', (_what, payload) =>
    expectRefused((producer) => producer.offer(scene.newQueue(), payload, 1), 'INVALID_PAYLOAD'),
  );

  test.each<[string, unknown, Record<string, string>, QueueOptions]>([
    ['text', 'x'.repeat(98), {}, {}],
    ['text of multi-byte characters', '€'.repeat(32) + 'xx', {}, {}],
    ['bytes', Buffer.alloc(100), {}, {}],
    ['bytes with headers', Buffer.alloc(86), { a: 'tenant' }, {}],
    ['text with headers', 'x'.repeat(84), { a: 'tenant' }, {}],
    ["text in Redisson's layout", 'x'.repeat(100), {}, { layout: redisson({ codec: 'string' }) }],
  ])(
    '%s of exactly maxPayloadBytes is accepted, and one byte more is refused before anything is written',
    async (_what, payload, headers, options) => {
      const queue = scene.newQueue();
      const longer = typeof payload === 'string' ? `${payload}x` : Buffer.concat([payload as Buffer, Buffer.alloc(1)]);
      const stores = ['redis', 'memory'] as const;
      for (const store of stores) {
        const module = { store, queues: { [queue]: { ...options, maxPayloadBytes: 100 } } };
        const { producer } = await scene.startApp({ module });
        await expect(producer.offer(queue, longer, '1h', { headers })).rejects.toMatchObject({
          code: 'PAYLOAD_TOO_LARGE',
          message: expect.stringContaining('take 101 bytes, more than maxPayloadBytes (100)'),
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
  ])('a delay of %s gives the right due time', async (_what, delay, milliseconds) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const before = Date.now();
    const { id, dueAt } = await producer.offer(queue, 1, delay);
    expect(dueAt.getTime() - milliseconds).toBeGreaterThanOrEqual(before - 1);
    expect(dueAt.getTime() - milliseconds).toBeLessThan(before + 2000);
    expect((await producer.find(queue, id))?.dueAt).toEqual(dueAt);
  });

  test('a message due in 2³¹ ms or in ten years is not handled early', async () => {
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
