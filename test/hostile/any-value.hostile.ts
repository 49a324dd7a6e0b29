import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { types } from 'node:util';
import fc from 'fast-check';
import {
  DeferMessage,
  DelayedHandler,
  DelayQueueError,
  type DelayQueueProducer,
  type QueueOptions,
  RejectMessage,
  RetryMessage,
} from '../../lib/index.js';
import { redisson, redissonQueue } from '../../packages/redisson/src/index.js';
import { readTypedQueueOptions, resolveModuleOptions } from '../../lib/options/resolve-options.js';
import { redissonKeys } from '../../packages/redisson/src/redisson-keys.js';
import { anyHostile, anyOf, anyPayload, type Making } from '../support/hostile-values.js';
import { Scene } from '../support/scene.js';
import type { TestApp } from '../support/test-app.js';

/** Set `PROBE_RUNS` for a long run; a failure prints its `PROBE_SEED`. */
const { PROBE_RUNS, PROBE_SEED } = process.env;
const settings = (runs: number) => ({
  numRuns: Number(PROBE_RUNS || runs),
  seed: Number(PROBE_SEED || Math.floor(Math.random() * 2 ** 31)),
});
const PATIENCE = 60_000 + Number(PROBE_RUNS || 0) * 50;

const CODES = new Set(readFileSync('docs/errors.md', 'utf8').match(/(?<=^\| `)[A-Z_]+/gm));

/** The typed error of a call, or undefined if it was answered; any other error fails the test. */
async function typedRefusalOf(call: () => unknown): Promise<DelayQueueError | undefined> {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    return typed(error);
  }
  try {
    await result;
    return undefined;
  } catch (error) {
    return typed(error);
  }
}

function typed(error: unknown): DelayQueueError {
  if (!(error instanceof DelayQueueError)) throw new Error('An untyped error', { cause: error });
  expect(CODES).toContain(error.code);
  expect(error.message).toMatch(/\w/);
  return error;
}

type Probe = (producer: DelayQueueProducer, queue: string) => unknown;

/** A value that the compiler would have refused. */
const made = (make: Making) => make() as never;

/** A call with an argument that can be anything. */
const given = (
  values: fc.Arbitrary<Making>,
  call: (producer: DelayQueueProducer, queue: string, value: never) => unknown,
): fc.Arbitrary<Probe> => values.map((make) => (producer, queue) => call(producer, queue, made(make)));

const lists = fc.array(anyHostile).map(
  (makes): Making =>
    () =>
      makes.map(made),
);
const textHeaders = fc.dictionary(fc.string({ unit: 'binary' }), fc.string()).map(
  (headers): Making =>
    () =>
      headers,
);

/** Every public method of a producer, with at least one argument that can be anything. */
const anyProbe: fc.Arbitrary<Probe> = fc.oneof(
  given(anyHostile, (producer, queue, delay) => producer.offer(queue, 1, delay)),
  given(anyHostile, (producer, queue, date) => producer.offerAt(queue, 1, date)),
  given(anyHostile, (producer, queue, options) => producer.offer(queue, 1, '1h', options)),
  given(
    anyOf('id', 'headers', 'onDuplicate', 'maxWait', 'expiresAfter', 'onExpired', 'attempts', 'backoff'),
    (producer, queue, options) => producer.offer(queue, 1, '1h', options),
  ),
  given(textHeaders, (producer, queue, headers) => producer.offer(queue, 1, '1h', { headers })),
  given(anyOf('a', '__proto__'), (producer, queue, headers) => producer.offer(queue, 1, '1h', { headers })),
  given(anyHostile, (producer, queue, messages) => producer.offerMany(queue, messages)),
  given(lists, (producer, queue, messages) => producer.offerMany(queue, messages)),
  given(anyOf('payload', 'delay', 'id', 'ttl'), (producer, queue, message) =>
    producer.offerMany(queue, [{ payload: 1, delay: 1 }, message]),
  ),
  given(anyHostile, (producer, queue, delay) => producer.reschedule(queue, 'm', delay)),
  given(anyHostile, (producer, queue, id) => producer.reschedule(queue, id, '1h')),
  given(anyHostile, (producer, queue, change) => producer.reschedule(queue, 'm', '1h', change)),
  given(anyOf('payload', 'headers', 'type'), (producer, queue, change) =>
    producer.reschedule(queue, 'm', '1h', change),
  ),
  given(anyHostile, (producer, _, queue) => producer.offer(queue, 1, '1h')),
  ...(['cancel', 'find', 'abort'] as const).map((method) =>
    given(anyHostile, (producer, queue, id) => producer[method](queue, id)),
  ),
  ...(['counts', 'countsByType', 'nextDue', 'isPaused', 'pause', 'deadLetters'] as const).map((method) =>
    given(anyHostile, (producer, _, queue) => producer[method](queue)),
  ),
  given(anyHostile, (producer, _, queue) => redissonQueue(producer, queue)),
  given(anyHostile, (_, queue, producer) => redissonQueue(producer, queue)),
  given(anyHostile, (producer, queue, query) => producer.deadLetters(queue).list(query)),
  given(anyHostile, (producer, queue, state) => producer.list(queue, state)),
  given(anyHostile, (producer, queue, query) => producer.list(queue, 'delayed', query)),
  given(anyOf('cursor', 'offset', 'limit', 'nope'), (producer, queue, query) => producer.list(queue, 'delayed', query)),
  given(anyOf('cursor', 'offset', 'limit', 'nope'), (producer, queue, query) =>
    producer.deadLetters(queue).list(query),
  ),
  ...(['redrive', 'discard'] as const).map((method) =>
    given(anyHostile, (producer, queue, id) => producer.deadLetters(queue)[method](id)),
  ),
  ...(['contains', 'remove'] as const).map((method) =>
    given(anyPayload, (producer, queue, payload) => redissonQueue(producer, queue)[method](payload)),
  ),
);

/** The value as JSON, including what Redisson's codecs can express: bytes, and BigInts for unsafe integers. */
function asJson(value: unknown): unknown {
  const json = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return Number(part);
    return types.isUint8Array(part) ? Buffer.from(part).toJSON() : part;
  });
  return JSON.parse(json) as unknown;
}

const LAYOUTS: Readonly<Record<string, QueueOptions & { store?: 'redis' | 'memory' }>> = {
  native: {},
  redisson: { layout: redisson() },
  'redisson with jackson': { layout: redisson({ codec: 'jackson' }) },
  'redisson with kryo5': { layout: redisson({ codec: 'kryo5' }) },
  memory: { store: 'memory' },
};

const stray: unknown[] = [];
const note = (reason: unknown) => void stray.push(reason);

beforeAll(() => {
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
});

afterAll(() => {
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
});

async function expectAlive(): Promise<void> {
  await new Promise(setImmediate);
  expect(stray).toEqual([]);
}

describe.each(Object.entries(LAYOUTS))(
  'a producer that is given arbitrary values: %s',
  (_, { store = 'redis', ...options }) => {
    const scene = new Scene();
    const queue = scene.newQueue();
    // They include the keys of the native layout.
    const keys = Object.values<string>({ ...redissonKeys({ prefix: scene.prefix, queue }) });
    let app: TestApp;

    const start = async () => (app = await scene.startApp({ module: { store, queues: { [queue]: options } } }));
    const contents = async () =>
      store === 'memory'
        ? [await app.producer.counts(queue)]
        : Promise.all(keys.map((key) => scene.redis.dumpBuffer(key)));

    // Redisson's keys have no prefix.
    afterEach(() => scene.redis.unlink(...keys));

    test(
      'answers with a result or a typed error, and writes nothing if it fails',
      async () => {
        await start();
        const answersOrRefuses = fc.asyncProperty(anyProbe, async (probe) => {
          const before = await contents();
          if (await typedRefusalOf(() => probe(app.producer, queue))) expect(await contents()).toEqual(before);
        });
        await fc.assert(answersOrRefuses, settings(150));
        await expectAlive();
      },
      PATIENCE,
    );

    test(
      'either rejects a payload or keeps what JSON would keep of it',
      async () => {
        await start();
        const comesBack = fc.asyncProperty(anyPayload, async (make) => {
          const before = await contents();
          const offer = { id: 'm', onDuplicate: 'replace' } as const;
          const refusal = await typedRefusalOf(() => app.producer.offer(queue, make(), '1h', offer));
          if (refusal) return expect(await contents()).toEqual(before);
          const payload = make();
          const found = await app.producer.find(queue, 'm');
          if (types.isUint8Array(payload)) return expect(found?.payload).toEqual(Buffer.from(payload));
          expect(asJson(found?.payload)).toEqual(asJson(payload));
        });
        await fc.assert(comesBack, settings(200));
        await expectAlive();
      },
      PATIENCE,
    );
  },
);

describe('arbitrary values in declarations', () => {
  const ofModule = ['connection', 'store', 'prefix', 'consume', 'defaults', 'queues', 'shutdownTimeout', 'nope'];
  const ofQueue = ['concurrency', 'lease', 'backoff', 'timeout', 'maxMessages', 'rate', 'layout', 'nope'];
  const ofRedisson = ['codec', 'format', 'name', 'nope'];
  const options = fc.oneof(anyHostile, anyOf(...ofModule));
  const queueOptions = fc.oneof(anyHostile, anyOf(...ofQueue));
  const DECLARATIONS: Readonly<Record<string, [fc.Arbitrary<Making>, (make: Making) => unknown]>> = {
    'options of the module': [options, (make) => resolveModuleOptions(made(make))],
    'options of queues': [
      queueOptions,
      (make) => resolveModuleOptions({ queues: { orders: made(make) }, defaults: made(make) }),
    ],
    'options of a decorator': [
      queueOptions,
      (make) => [DelayedHandler('orders', made(make)), readTypedQueueOptions(make() as never, 'here')],
    ],
    'options of a layout': [fc.oneof(anyHostile, anyOf(...ofRedisson)), (make) => redisson(made(make))],
    'reasons of a rejection': [anyHostile, (make) => new RejectMessage(made(make))],
    'delays of a deferral': [anyHostile, (make) => new DeferMessage(made(make))],
    'delays of a retry': [anyHostile, (make) => new RetryMessage(made(make))],
  };

  test.each(Object.entries(DECLARATIONS))(
    'are either accepted as %s or rejected with a typed error',
    async (_, [given, declare]) => {
      await fc.assert(
        fc.asyncProperty(given, async (make) => void (await typedRefusalOf(() => void declare(make)))),
        settings(300),
      );
      await expectAlive();
    },
    PATIENCE,
  );
});
