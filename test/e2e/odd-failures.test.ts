import { afterEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Observable, throwError } from 'rxjs';
import { DelayQueueModule, DelayQueueProducer, type QueueOptions } from '../../lib/index.js';
import { ODD_RESULTS, ODD_VALUES } from '../support/odd-values.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const SOUND = ['sound 1', 'sound 2', 'sound 3'];
/** Closing waits for handlers, ten seconds by default: so long it takes if a message is held for good. */
const QUICK = 3000;

const throws = (value: unknown): never => {
  throw value;
};

/*
 * An unhandled rejection fails the test that it happens in, as it would end the process.
 */
describe('whatever the code of an application throws or returns', () => {
  let app: TestApp;

  afterEach(() => app.close());

  async function startApp(handler: Type): Promise<TestApp> {
    return (app = await startTestApp({ store: 'memory' }, { providers: [handler] }));
  }

  /** Offers one message of each name, and sound ones after them, so that they are claimed together. */
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

  /** Handles all of them, sees each odd one end as a dead letter that can be read, and the sound ones handled. */
  async function expectDeadLetters(
    names: readonly string[],
    handle: (name: string) => unknown,
    options: QueueOptions = {},
  ): Promise<void> {
    const handled: string[] = [];
    const handler = handlerOf<string>(
      'odd',
      (name) => (SOUND.includes(name) ? void handled.push(name) : handle(name)),
      { attempts: 1, concurrency: 100, ...options },
    );
    await startApp(handler);
    await offerAll('odd', names);
    await until(
      async () => (await app.producer.counts('odd')).dead === names.length && handled.length === SOUND.length,
    );
    expect(handled).toEqual(SOUND);
    const { letters } = await app.producer.deadLetters('odd').list({ limit: 100 });
    expect(letters.map(({ id }) => id).sort()).toEqual([...names].sort());
    for (const { error } of letters) {
      expect(`${error.name}${error.message}`).toMatch(/\w/);
    }
    await until(async () => Object.values(await app.producer.counts('odd')).join() === `0,0,0,${names.length}`);
    await expectQuickClose();
  }

  const values = Object.keys(ODD_VALUES);
  const results = Object.keys(ODD_RESULTS);

  test('what a handler throws ends as a dead letter, and its neighbours are handled', () =>
    expectDeadLetters(values, (name) => throws(ODD_VALUES[name]!())));

  test('what an async handler throws does', () =>
    expectDeadLetters(values, async (name) => {
      await sleep(1);
      throws(ODD_VALUES[name]!());
    }));

  test('what an async handler with a timeout throws does', () =>
    expectDeadLetters(
      values,
      async (name) => {
        await sleep(1);
        throws(ODD_VALUES[name]!());
      },
      { timeout: '1m' },
    ));

  test('what an observable errs with does', () =>
    expectDeadLetters(values, (name) => throwError(() => ODD_VALUES[name]!())));

  test('a result that cannot be waited for does', () => expectDeadLetters(results, (name) => ODD_RESULTS[name]!()));

  test('a result that cannot be waited for does where there is a timeout', () =>
    expectDeadLetters(results, (name) => ODD_RESULTS[name]!(), { timeout: '1m' }));

  test('a result that never ends does, after its timeout', () =>
    expectDeadLetters(
      ['thenable', 'observable'],
      (name) => (name === 'thenable' ? { then: () => undefined } : new Observable(() => undefined)),
      { timeout: 50 },
    ));

  test('a thenable that resolves twice, or rejects after that, is handled', async () => {
    const doubts: Record<string, object> = {
      twice: { then: (resolve: () => void) => [resolve(), resolve()] },
      'then rejects': { then: (resolve: () => void, reject: () => void) => [resolve(), reject()] },
      'then throws': { then: (resolve: () => void) => [resolve(), throws(new Error('late'))] },
    };
    let calls = 0;
    await startApp(handlerOf<string>('odd', (name) => (++calls, doubts[name]), { attempts: 1 }));
    await offerAll('odd', Object.keys(doubts));
    await until(async () => Object.values(await app.producer.counts('odd')).every((count) => count === 0));
    expect(calls).toBe(6);
    await expectQuickClose();
  });

  test('what a backoff function throws, or returns for a delay, makes the default backoff do', async () => {
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
    await until(async () => Object.values(await app.producer.counts('odd')).every((count) => count === 0));
    expect(attempts.filter((line) => line.endsWith('2')).sort()).toEqual(names.map((name) => `${name} 2`).sort());
    await expectQuickClose();
  });

  test('what a codec throws, or a promise that it decodes to, makes a dead letter', async () => {
    const handled: unknown[] = [];
    const odd: Record<string, () => unknown> = {
      ...Object.fromEntries(Object.entries(ODD_VALUES).map(([name, make]) => [name, () => throws(make())])),
      'a promise': () => Promise.resolve(1),
      'a rejected promise': () => Promise.reject(new Error('async')),
    };
    const codec = {
      encode: (payload: unknown) => Buffer.from(String(payload)),
      decode: (bytes: Buffer) => odd[bytes.toString()]?.() ?? bytes.toString(),
    };
    await startApp(
      handlerOf('odd', (payload) => handled.push(payload), { layout: 'redisson', codec, concurrency: 100 }),
    );
    const names = Object.keys(odd);
    await offerAll('odd', names);
    await until(
      async () => (await app.producer.counts('odd')).dead === names.length && handled.length === SOUND.length,
    );
    expect(handled).toEqual(SOUND);
    await expectQuickClose();
  });

  test('a payload that throws when it is looked at is handed over as it is', async () => {
    let given = 0;
    const codec = {
      encode: (payload: unknown) => Buffer.from(String(payload)),
      decode: (bytes: Buffer) => (ODD_RESULTS[bytes.toString()] ?? (() => bytes))(),
    };
    await startApp(handlerOf('odd', () => void given++, { layout: 'redisson', codec, concurrency: 100 }));
    const names = results.filter((name) => !name.includes('promise'));
    await offerAll('odd', names);
    await until(async () => Object.values(await app.producer.counts('odd')).every((count) => count === 0));
    expect(given).toBe(names.length + SOUND.length);
    await expectQuickClose();
  });

  test('a logger that throws costs nothing but the line', async () => {
    const handled: string[] = [];
    const handler = handlerOf<string>(
      'odd',
      (name) => (SOUND.includes(name) ? void handled.push(name) : throws(new Error(name))),
      { attempts: 1 },
    );
    const root = { module: class {}, imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [handler] };
    const refuse = (...line: unknown[]) => {
      if (line.at(-1) === 'DelayQueue' && String(line[0]).startsWith('odd:')) throw new Error('disk full');
    };
    const logger: LoggerService = { log: refuse, warn: refuse, error: refuse };
    const context = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
    app = { context, producer: context.get(DelayQueueProducer), log: [], close: () => context.close() };
    await offerAll('odd', ['a', 'b']);
    await until(async () => Object.values(await app.producer.counts('odd')).join() === '0,0,0,2');
    expect(handled).toEqual(SOUND);
    await expectQuickClose();
    app = { ...app, close: () => Promise.resolve() };
  });
});
