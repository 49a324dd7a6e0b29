import { afterEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Observable, throwError } from 'rxjs';
import { DelayQueueModule, DelayQueueProducer, type QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { ODD_RESULTS, ODD_VALUES } from '../support/odd-values.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const SOUND = ['sound 1', 'sound 2', 'sound 3'];
/** Closing waits ten seconds for handlers by default, so it exceeds this if a message is still held. */
const QUICK = 3000;

const throws = (value: unknown): never => {
  throw value;
};

const later = async (value: unknown) => {
  await sleep(1);
  throws(value);
};

/*
 * An unhandled rejection would end the process, so it fails the test in which it happens.
 */
describe('odd values from application code', () => {
  let app: TestApp;

  afterEach(() => app.close());

  async function startApp(handler: Type): Promise<TestApp> {
    return (app = await startTestApp({ store: 'memory' }, { providers: [handler] }));
  }

  /** Offers one message of each name and sound ones after them, so that all are claimed together. */
  async function offerAll(queue: string, names: readonly string[]): Promise<void> {
    await app.producer.offerMany(
      queue,
      [...names, ...SOUND].map((name) => ({ payload: name, delay: 0, id: name })),
    );
  }

  async function expectQuickClose(): Promise<void> {
    const start = performance.now();
    await app.close();
    expect(performance.now() - start).toBeLessThan(QUICK);
    expect(app.log.join('\n')).not.toContain('shutdownTimeout');
  }

  /** Expects each odd message to end as a readable dead letter, and the sound ones to be handled. */
  async function expectDeadLetters(
    names: readonly string[],
    handle: (name: string) => unknown,
    options: QueueOptions = {},
  ): Promise<void> {
    const handled = new Handled();
    const handler = handlerOf<string>(
      'odd',
      (name, message) => (SOUND.includes(name) ? handled.record(name, message) : handle(name)),
      { attempts: 1, concurrency: 100, ...options },
    );
    await startApp(handler);
    await offerAll('odd', names);
    await until(
      async () => (await app.producer.counts('odd')).dead === names.length && handled.calls.length === SOUND.length,
    );
    expect(handled.payloads).toEqual(SOUND);
    const { messages: letters } = await app.producer.deadLetters('odd').list({ limit: 100 });
    expect(letters.map(({ id }) => id).sort()).toEqual([...names].sort());
    for (const { error } of letters) {
      expect(`${error.name}${error.message}`).toMatch(/\w/);
    }
    await until(() => isEmpty(app.producer, 'odd', { dead: names.length }));
    await expectQuickClose();
  }

  const values = Object.keys(ODD_VALUES);
  const results = Object.keys(ODD_RESULTS);

  test.each<[string, (value: unknown) => unknown, QueueOptions]>([
    ['thrown by a handler', throws, {}],
    ['thrown by an async handler', later, {}],
    ['thrown by an async handler with a timeout', later, { timeout: '1m' }],
    ["emitted as an error by a handler's Observable", (value) => throwError(() => value), {}],
  ])('any value %s leads to a dead letter, and the other messages are handled', (_what, fail, options) =>
    expectDeadLetters(values, (name) => fail(ODD_VALUES[name]!()), options),
  );

  test.each<[string, QueueOptions]>([
    ['no timeout', {}],
    ['a timeout', { timeout: '1m' }],
  ])('a result that cannot be awaited leads to a dead letter if the handler has %s', (_what, options) =>
    expectDeadLetters(results, (name) => ODD_RESULTS[name]!(), options),
  );

  test('a result that never settles leads to a dead letter after the timeout', () =>
    expectDeadLetters(
      ['thenable', 'observable'],
      (name) => (name === 'thenable' ? { then: () => undefined } : new Observable(() => undefined)),
      { timeout: 50 },
    ));

  test('a thenable that resolves again, rejects or throws after it has resolved counts as handled', async () => {
    const doubts: Record<string, object> = {
      twice: { then: (resolve: () => void) => [resolve(), resolve()] },
      'then rejects': { then: (resolve: () => void, reject: () => void) => [resolve(), reject()] },
      'then throws': { then: (resolve: () => void) => [resolve(), throws(new Error('late'))] },
    };
    let calls = 0;
    await startApp(handlerOf<string>('odd', (name) => (++calls, doubts[name]), { attempts: 1 }));
    await offerAll('odd', Object.keys(doubts));
    await until(() => isEmpty(app.producer, 'odd'));
    expect(calls).toBe(6);
    await expectQuickClose();
  });

  test('a message is retried even if its backoff function throws or returns an invalid delay', async () => {
    const attempts: string[] = [];
    const odd: Record<string, () => unknown> = {
      ...ODD_RESULTS,
      'a rejected promise': () => Promise.reject(new Error('async')),
    };
    const handler = handlerOf<string>(
      'odd',
      (name, { attempt }) => {
        attempts.push(`${name} ${attempt}`);
        if (attempt === 1 && !SOUND.includes(name)) throw new Error(name);
      },
      {
        concurrency: 100,
        backoff: (_attempt, error) => {
          const { message } = error as Error;
          return (message in odd ? odd[message]!() : throws(ODD_VALUES[message]!())) as number;
        },
      },
    );
    await startApp(handler);
    const names = [...Object.keys(odd), ...values.filter((name) => !(name in odd))];
    await offerAll('odd', names);
    await until(() => isEmpty(app.producer, 'odd'));
    expect(attempts.filter((line) => line.endsWith('2')).sort()).toEqual(names.map((name) => `${name} 2`).sort());
    await expectQuickClose();
  });

  test('a codec that throws or decodes to a promise leads to a dead letter', async () => {
    const handled = new Handled();
    const odd: Record<string, () => unknown> = {
      ...Object.fromEntries(Object.entries(ODD_VALUES).map(([name, make]) => [name, () => throws(make())])),
      'a promise': () => Promise.resolve(1),
      'a rejected promise': () => Promise.reject(new Error('async')),
    };
    const codec = {
      encode: (payload: unknown) => Buffer.from(String(payload)),
      decode: (bytes: Buffer) => odd[bytes.toString()]?.() ?? bytes.toString(),
    };
    await startApp(handlerOf('odd', handled.record, { layout: redisson({ codec }), concurrency: 100 }));
    const names = Object.keys(odd);
    // Sound ones in between show that the codec is the right one.
    const payloads = names.flatMap((name, i) => [`sound ${i}`, name]);
    await app.producer.offerMany(
      'odd',
      payloads.map((payload) => ({ payload, delay: 0 })),
    );
    await until(
      async () => (await app.producer.counts('odd')).dead === names.length && handled.calls.length === names.length,
    );
    expect(handled.payloads).toEqual(names.map((_name, i) => `sound ${i}`));
    await expectQuickClose();
  });

  test('a decoded payload that throws when it is read still reaches the handler', async () => {
    let given = 0;
    const codec = {
      encode: (payload: unknown) => Buffer.from(String(payload)),
      decode: (bytes: Buffer) => (ODD_RESULTS[bytes.toString()] ?? (() => bytes))(),
    };
    await startApp(handlerOf('odd', () => void given++, { layout: redisson({ codec }), concurrency: 100 }));
    const names = results.filter((name) => !name.includes('promise'));
    await offerAll('odd', names);
    await until(() => isEmpty(app.producer, 'odd'));
    expect(given).toBe(names.length + SOUND.length);
    await expectQuickClose();
  });

  test('a logger that throws does not prevent messages from being handled', async () => {
    const handled = new Handled();
    const handler = handlerOf<string>(
      'odd',
      (name, message) => (SOUND.includes(name) ? handled.record(name, message) : throws(new Error(name))),
      { attempts: 1 },
    );
    const root = { module: class {}, imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [handler] };
    const refuse = (...line: unknown[]) => {
      if (line.at(-1) === 'DelayQueue' && String(line[0]).startsWith('odd:')) throw new Error('disk full');
    };
    const logger: LoggerService = { log: refuse, warn: refuse, error: refuse };
    const context = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
    app = { context, producer: context.get(DelayQueueProducer), log: [], stacks: [], close: () => context.close() };
    await offerAll('odd', ['a', 'b']);
    await until(() => isEmpty(app.producer, 'odd', { dead: 2 }));
    expect(handled.payloads).toEqual(SOUND);
    await expectQuickClose();
    app = { ...app, close: () => Promise.resolve() };
  });
});
