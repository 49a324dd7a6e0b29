import { describe, expect, test } from '@jest/globals';
import { runInNewContext } from 'node:vm';
import type { DelayQueueProducer } from '../../lib/index.js';
import { redisson, redissonQueue } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { refuse, revoked } from '../support/odd-values.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const YEAR = 365 * 24 * 60 * 60 * 1000;

/** An argument: the methods that take it, and the values that they refuse, each with a name. */
interface Argument {
  readonly calls: readonly ((producer: DelayQueueProducer, queue: string, value: never) => unknown)[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** Names values by their type and JSON. */
const named = (...values: readonly unknown[]) =>
  Object.fromEntries(values.map((value, index) => [`${index}: ${typeof value} ${JSON.stringify(value)}`, value]));

const ARGUMENTS: Readonly<Record<string, Argument>> = {
  'an invalid delay': {
    calls: [
      (producer, queue, delay) => producer.offer(queue, 1, delay),
      (producer, queue, delay) => producer.offerMany(queue, [{ payload: 1, delay: 5 }, { payload: 2, delay }]), // prettier-ignore
      (producer, queue, delay) => producer.reschedule(queue, 'm', delay),
    ],
    values: {
      ...named(-1, NaN, 1.5, 2 ** 53, Infinity, 101 * YEAR, '5 parsecs', '', '-1s', '0.5ms', null, undefined, {}),
      'a BigInt': 5n,
    },
  },
  'an invalid date': {
    calls: [(producer, queue, date) => producer.offerAt(queue, 1, date)],
    values: named(new Date(NaN), new Date(-1), new Date(8.64e15), 'tomorrow', 1_000_000),
  },
  'an invalid queue name': {
    calls: [
      (producer, _, name) => producer.offer(name, 1, 1),
      (producer, _, name) => producer.counts(name),
      (producer, _, name) => producer.pause(name),
      (producer, _, name) => producer.deadLetters(name),
    ],
    values: {
      ...named('', 'a b', 'a{b}', '{}', 'a\nb', 'ä', 'x'.repeat(129), 'cut\ud83d', 7, null, undefined, ['a']),
      'a BigInt': 5n,
      'a symbol': Symbol('a'),
      'a String object': new String('a'),
      'an object that converts to a string': { toString: () => 'a' },
    },
  },
  'an invalid id': {
    calls: [
      (producer, queue, id) => producer.offer(queue, 1, 1, { id }),
      (producer, queue, id) => producer.cancel(queue, id),
      (producer, queue, id) => producer.abort(queue, id),
      (producer, queue, id) => producer.reschedule(queue, id, 1),
      (producer, queue, id) => producer.find(queue, id),
      (producer, queue, id) => producer.deadLetters(queue).redrive(id),
      (producer, queue, id) => producer.deadLetters(queue).discard(id),
    ],
    values: {
      ...named('', 'a\nb', '\u0000', 'x'.repeat(257), 'ä'.repeat(129), 5, null),
      // UTF-8 would make different ones equal.
      ...named('cut\ud83d', 'cut\ud83c', '\udc00'),
    },
  },
  'an invalid group': {
    calls: [
      (producer, queue, group) => producer.offer(queue, 1, 1, { group }),
      (producer, queue, group) => producer.offerMany(queue, [{ payload: 1, delay: 1 }, { payload: 1, delay: 1, group }]), // prettier-ignore
      (producer, queue, group) => producer.group(queue, group),
    ],
    values: {
      ...named('', 'a\nb', '\u0000', 'x'.repeat(257), 'ä'.repeat(129), 5, null, {}, ['a'], 'cut\ud83d'),
      'a symbol': Symbol('a'),
      'a String object': new String('a'),
      'an object that converts to a string': { toString: () => 'a' },
    },
  },
  'an invalid query or state of a group': {
    calls: [
      (producer, queue, query) => producer.group(queue, 'a').list('delayed', query),
      (producer, queue, state) => producer.group(queue, 'a').list(state),
    ],
    values: {
      ...named(null, 5, [1], { nope: 1 }, { limit: 0 }, { limit: 1001 }, { cursor: '' }, { cursor: 5 }, { offset: 1 }),
      'a cursor with a line feed': { cursor: 'a\nb' },
      'a getter that throws': { get limit() { return refuse(); } }, // prettier-ignore
    },
  },
  'invalid limits': {
    calls: [(producer, queue, limits) => producer.limits(queue).set(limits)],
    values: {
      ...named(null, 5, 'unlimited', [5], {}, { nope: 1 }, { globalConcurrency: NaN }, { globalConcurrency: '5' }),
      ...named({ rate: 100 }, { rate: { max: 1, per: '5 parsecs' } }, { globalConcurrency: 1, rate: null }),
      'a map': new Map([['globalConcurrency', 5]]),
      'a BigInt': { globalConcurrency: 5n },
      'a getter that throws': { get globalConcurrency() { return refuse(); } }, // prettier-ignore
      'a revoked object': revoked({}),
    },
  },
  'an invalid name of who sets limits': {
    calls: [(producer, queue, by) => producer.limits(queue).set({ globalConcurrency: 1 }, { by })],
    values: { ...named('', 'x'.repeat(201), 5, null, ['a']), 'a symbol': Symbol('a') },
  },
  'an invalid due time of a group': {
    calls: [(producer, queue, due) => producer.group(queue, 'a').rescheduleAll(due)],
    values: { ...named(-1, NaN, '5 parsecs', null, undefined, {}, new Date(NaN)), 'a BigInt': 5n },
  },
  'an invalid option of an offer': {
    calls: [
      (producer, queue, options) => producer.offer(queue, 1, 1, options),
      (producer, queue, options) => producer.offerAt(queue, 1, new Date(), options),
    ],
    values: {
      null: null,
      text: 'unpaid:7',
      'a number': 7,
      'a list': [],
      'a map': new Map([['id', 'unpaid:7']]),
      'a function': () => ({}),
      'an unknown field': { ttl: 5 },
      'a getter that throws': { get id() { return refuse(); } }, // prettier-ignore
      'a proxy that throws': new Proxy({}, { ownKeys: refuse }),
      'an unknown onDuplicate': { onDuplicate: 'ignore' },
      'no attempts': { attempts: 0 },
      'too many attempts': { attempts: 1_000_001 },
      'attempts as text': { attempts: '3' },
      'a backoff as a function': { backoff: () => 5 },
      'a backoff as a number': { backoff: 5 },
      'a backoff without a type': { backoff: { delay: 5 } },
      'a backoff of an unknown type': { backoff: { type: 'linear', delay: 5 } },
      'a fixed backoff without a delay': { backoff: { type: 'fixed' } },
      'a fixed backoff with a factor': { backoff: { type: 'fixed', delay: 5, factor: 2 } },
      'a backoff with too much jitter': { backoff: { type: 'fixed', delay: 5, jitter: 2 } },
      'a backoff that throws': { backoff: { get type() { return refuse(); } } }, // prettier-ignore
      'a list as onDuplicate': { onDuplicate: ['follow'] },
      'headers with numbers as values': { headers: { a: 1 } },
      'headers with undefined as a value': { headers: { a: undefined } },
      'headers as a list': { headers: ['a'] },
      'null as headers': { headers: null },
      'headers as a map': { headers: new Map([['tenant', 'a']]) },
      'headers as a set': { headers: new Set(['a']) },
      'a Headers object of the Fetch API': { headers: new Headers({ tenant: 'a' }) },
      'headers that were not awaited': { headers: Promise.resolve({ tenant: 'a' }) },
      'headers of a class that computes them': { headers: new (class { get tenant() { return refuse(); } })() }, // prettier-ignore
      'headers with a getter that throws': { headers: { get tenant() { return refuse(); } } }, // prettier-ignore
      'revoked headers': { headers: revoked({}) },
      'headers with an unpaired surrogate': { headers: { a: 'b\ud83d' } },
      'a header whose name is an unpaired surrogate': { headers: { '\ud83d': 'b' } },
    },
  },
  'an invalid list of messages': {
    calls: [(producer, queue, messages) => producer.offerMany(queue, messages)],
    values: {
      null: null,
      'an object': {},
      text: 'x',
      'a set': new Set([{ payload: 1, delay: 1 }]),
      'a list that contains null': [null],
      'a list with a hole': [, { payload: 1, delay: 1 }], // eslint-disable-line no-sparse-arrays
      'a list that contains a list': [[]],
      'a list with an unknown field': [{ payload: 1, delay: 1 }, { payload: 1, delay: 1, ttl: 5 }], // prettier-ignore
      'a list with a misplaced payload': [{ orderId: 7 }],
      'a list with a getter that throws': [{ delay: 1, get payload() { return refuse(); } }], // prettier-ignore
      'a list whose element throws': Object.defineProperty([1], 0, { get: refuse }),
      'a list that throws': new Proxy([1], { get: refuse }),
      'a revoked list': revoked([]),
    },
  },
  'an invalid query': {
    calls: [
      (producer, queue, query) => producer.deadLetters(queue).list(query),
      (producer, queue, query) => producer.list(queue, 'delayed', query),
    ],
    values: {
      null: null,
      'a number': 5,
      'a list': [1],
      'an unknown field': { nope: 1 },
      'a map': new Map([['limit', 1]]),
      'a promise': Promise.resolve({ limit: 1 }),
      'a getter that throws': { get limit() { return refuse(); } }, // prettier-ignore
      'a limit of 0': { limit: 0 },
      'a limit of 1001': { limit: 1001 },
      'a string as the limit': { limit: '5' },
      'a limit that cannot be converted to a string': { limit: Object.create(null) as unknown },
      'a limit that is a symbol': { limit: Symbol('5') },
      'a cursor that no page returned': { cursor: 'x' },
      'a cursor that is a number': { cursor: 5 },
      'a cursor that is null': { cursor: null },
      'a cursor that cannot be converted to a string': { cursor: { toString: refuse } },
    },
  },
  'an invalid position in a list': {
    calls: [
      (producer, queue, query) => producer.deadLetters(queue).list(query),
      (producer, queue, query) => producer.list(queue, 'delayed', query),
    ],
    values: {
      'an offset of -1': { offset: -1 },
      'an offset of 1.5': { offset: 1.5 },
      'an offset of 2⁵³': { offset: 2 ** 53 },
      'a string as the offset': { offset: '5' },
      'an offset that cannot be converted to a string': { offset: Object.create(null) as unknown },
      'a cursor and an offset': { cursor: 'delayed:1:a', offset: 0 },
      'a cursor of another state': { cursor: 'ready:1:a' },
    },
  },
  'an invalid state': {
    calls: [(producer, queue, state) => producer.list(queue, state)],
    values: { ...named('', 'gone', 'constructor', 5, null, undefined, ['dead']), 'a symbol': Symbol('dead') },
  },
};

describe('a producer', () => {
  const scene = new Scene();
  const keys = async () => (await scene.redis.keys(`${scene.prefix}:*`)).sort();

  test.each(Object.entries(ARGUMENTS))('rejects %s before anything is written', async (_, { calls, values }) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { queues: { [queue]: { groups: {} } } } });
    const before = await keys();
    for (const [what, value] of Object.entries(values)) {
      for (const call of calls) {
        const refusal = await refusalOf(Promise.resolve().then(() => call(producer, queue, value as never)));
        expect({ what, call: String(call), refusal }).toMatchObject({
          what,
          refusal: { name: 'DelayQueueError', code: 'INVALID_ARGUMENT' },
        });
      }
    }
    expect(await keys()).toEqual(before);
  });

  test('names the invalid message of a list in its error', async () => {
    const { producer } = await scene.startApp();
    const wrong: [object, string][] = [
      [{ payload: { a: [NaN] }, delay: 1 }, 'messages[1]: payload.a[0]: JSON cannot represent NaN'],
      [{ payload: 1, delay: -5 }, 'messages[1]: delay must be between'],
      [
        { payload: 1, delay: 5, ttl: 5 },
        "messages[1]: it: must be an object with payload, delay, at, type, id, headers, onDuplicate, group, maxWait, expiresAfter, onExpired, attempts, backoff, not 'ttl'",
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

  test('returns a rejected promise instead of throwing', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { queues: { [queue]: { layout: redisson() } } } });
    const calls: (() => Promise<unknown>)[] = [
      () => producer.offer('{}', 1, 1),
      () => producer.offerAt('{}', 1, new Date()),
      () => producer.offerMany('{}', []),
      ...(['cancel', 'find', 'abort'] as const).map((method) => () => producer[method]('{}', 'm')),
      ...(['counts', 'countsByType', 'nextDue', 'isPaused', 'pause', 'resume', 'clear'] as const).map(
        (method) => () => producer[method]('{}'),
      ),
      () => producer.list('{}', 'dead'),
      ...(['redrive', 'discard'] as const).map((method) => () => producer.deadLetters(queue)[method]('')),
      ...(['contains', 'remove'] as const).map((method) => () => redissonQueue(producer, queue)[method](undefined)),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'DelayQueueError' });
  });

  test('accepts a date from another realm or of a derived class', async () => {
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

  test('computes the right due time for delays from zero to a hundred years', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const delays: [delay: number | string, milliseconds: number][] = [
      [0, 0],
      [2 ** 31, 2 ** 31],
      [10 * YEAR, 10 * YEAR],
      ['1.5h', 5_400_000],
      ['100y', 100 * 365.25 * 24 * 60 * 60 * 1000],
    ];
    for (const [delay, milliseconds] of delays) {
      const before = Date.now();
      const { id, dueAt } = await producer.offer(queue, 1, delay);
      // Redis has a clock of its own.
      expect(dueAt.getTime() - milliseconds).toBeGreaterThanOrEqual(before - 1);
      expect(dueAt.getTime() - milliseconds).toBeLessThan(before + 2000);
      expect((await producer.find(queue, id))?.dueAt).toEqual(dueAt);
    }
  });

  test('offers messages due in 2³¹ ms and in ten years, which are not handled early', async () => {
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
});
