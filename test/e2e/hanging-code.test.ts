import { describe, expect, test } from '@jest/globals';
import { type CanActivate, Injectable, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import {
  again,
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  type DelayQueueObserver,
  type OfferContext,
  type PayloadOf,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const stores = [
  ['native', {}],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', { store: 'memory' as const }],
] as const;

const never = new Promise<never>(() => undefined);
const fiveOffers = Array.from({ length: 5 }, (_, i) => ({ id: `m${i}`, payload: i, delay: 0 }));

describe.each(stores)('an observer that hangs, on %s', (_, module) => {
  const scene = new Scene();

  test("makes a handler's attempt fail at the timeout, with the observer's name in the error, and frees the slot", async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    class Tracing implements DelayQueueObserver {
      handle({ id }: DelayedMessage, next: () => unknown) {
        return id === 'm0' || id === 'm1' ? never : next();
      }
    }
    const { producer } = await scene.startApp({
      module: { ...module, observers: [new Tracing()] },
      providers: [handlerOf(queue, handled.record, { concurrency: 2, timeout: 300, attempts: 1 })],
    });
    await producer.offerMany(queue, fiveOffers);
    await until(async () => Object.values(await producer.counts(queue)).join() === '0,0,0,2');
    expect([...handled.payloads].sort()).toEqual([2, 3, 4]);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toMatchObject(
      ['m0', 'm1'].map(() => ({
        failedAttempts: 1,
        error: {
          name: 'HandlerTimeout',
          message: 'The observer Tracing did not call next() within the timeout of the handler, 300 ms',
        },
      })),
    );
  });

  test("makes the attempts of a batch fail at the timeout, with the observer's name in the error", async () => {
    const queue = scene.newQueue();
    const handled: unknown[] = [];
    const signals: AbortSignal[] = [];
    class Tracing implements DelayQueueObserver {
      async handleBatch(messages: readonly DelayedMessage[], next: () => unknown) {
        signals.push(...messages.map(({ signal }) => signal));
        await (messages.some(({ id }) => id === 'm0') ? never : null);
        return next();
      }
    }
    @Injectable()
    class Statistics {
      @DelayedHandler(queue, { batch: 2, batchWait: 100, concurrency: 1, timeout: 300, attempts: 1 })
      count(payloads: unknown[]) {
        handled.push(...payloads);
      }
    }
    const { producer } = await scene.startApp({
      module: { ...module, observers: [new Tracing()] },
      providers: [Statistics],
    });
    await producer.offerMany(queue, fiveOffers);
    await until(async () => Object.values(await producer.counts(queue)).join() === '0,0,0,2');
    expect(handled).toHaveLength(3);
    expect(signals.map(({ aborted }) => aborted).sort()).toEqual([false, false, false, true, true]);
    const { messages: letters } = await producer.deadLetters(queue).list();
    for (const { error } of letters) expect(error?.message).toContain('The observer Tracing did not call next()');
  });

  test("has no effect if it hangs after next(), because the handler's outcome counts at once", async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const hangs = async (_subject: unknown, next: () => unknown) => {
      await next();
      await never;
    };
    const { producer } = await scene.startApp({
      module: { ...module, observers: [{ offer: hangs, handle: hangs }] },
      providers: [handlerOf(queue, handled.record, { concurrency: 2, timeout: 300, attempts: 1 })],
    });
    await producer.offerMany(queue, fiveOffers);
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    expect([...handled.payloads].sort()).toEqual([0, 1, 2, 3, 4]);
  });

  test("makes an offer fail within offerTimeout, with the observer's name in the error, and nothing is ever written", async () => {
    const queue = scene.newQueue();
    const resume: (() => void)[] = [];
    class Outer implements DelayQueueObserver {
      offer = (_offers: OfferContext, next: () => unknown) => next();
    }
    class Tracing implements DelayQueueObserver {
      async offer(_offers: OfferContext, next: () => unknown) {
        await new Promise<void>((resolve) => resume.push(resolve));
        return next();
      }
    }
    const { producer, log } = await scene.startApp({
      module: { ...module, offerTimeout: 300, observers: [new Outer(), new Tracing()] },
    });
    const timedOut = {
      code: 'OFFER_TIMEOUT',
      message: expect.stringMatching(
        /queue '.*': the observer Tracing did not .* offerTimeout, 300 ms. Nothing was written/,
      ),
    };
    await expect(producer.offer(queue, 1, '1h')).rejects.toMatchObject(timedOut);
    await expect(producer.offerMany(queue, fiveOffers)).rejects.toMatchObject(timedOut);
    for (const each of resume) each();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(log.filter((line) => line.includes('Tracing failed'))).toEqual([]);
  });
});

describe.each(stores)('a schema that hangs, on %s', (_, module) => {
  const scene = new Scene();

  /** Hangs for odd numbers once the test demands it. */
  async function startApp(handle: (payload: number) => unknown, settings: object = {}) {
    let isHanging = false;
    const release: (() => void)[] = [];
    const hang = (payload: number) =>
      isHanging && payload % 2 ? new Promise<boolean>((resolve) => release.push(() => resolve(true))) : true;
    class Numbers extends DelayQueue(scene.newQueue(), z.number().refine(hang), { concurrency: 2, attempts: 1 }) {}
    @Injectable()
    class Handler {
      @DelayedHandler(Numbers, { timeout: 300 })
      handle(payload: PayloadOf<typeof Numbers>) {
        return handle(payload);
      }
    }
    const app = await scene.startApp({ module: { ...module, ...settings }, providers: [Numbers, Handler] });
    const startHanging = () => (isHanging = true);
    return { ...app, numbers: app.context.get(Numbers), startHanging, release };
  }

  const slowSchema = {
    name: 'HandlerTimeout',
    message: 'The schema of the payload took longer than the timeout of the handler, 300 ms',
  };

  test('makes the attempt fail at the timeout and frees the slot', async () => {
    const handled: number[] = [];
    const { numbers, startHanging } = await startApp((payload) => handled.push(payload));
    await numbers.pause();
    await numbers.offerMany(fiveOffers);
    startHanging();
    await numbers.resume();
    await until(async () => Object.values(await numbers.counts()).join() === '0,0,0,2');
    expect(handled.sort()).toEqual([0, 2, 4]);
    const { messages: letters } = await numbers.deadLetters().list();
    expect(letters.map(({ error }) => error)).toMatchObject([slowSchema, slowSchema]);
  });

  test('makes the attempt fail at the timeout if it checks the new payload of again()', async () => {
    const { numbers, startHanging } = await startApp(() => {
      startHanging();
      return again('1h', { payload: 7 });
    });
    await numbers.offer(2, 0, { id: 'a' });
    await until(async () => (await numbers.counts()).dead === 1);
    expect((await numbers.deadLetters().list()).messages).toMatchObject([{ id: 'a', error: slowSchema }]);
  });

  test('makes an offer fail within offerTimeout, and nothing is ever written', async () => {
    const { numbers, startHanging, release } = await startApp(() => undefined, { offerTimeout: 300 });
    startHanging();
    const problem = `payload of queue '${numbers.queue}': the schema did not answer within offerTimeout, 300 ms. Nothing was`;
    const timedOut = (where: string) => ({
      code: 'OFFER_TIMEOUT',
      message: expect.stringContaining(`${where}${problem}`),
    });
    await expect(numbers.offer(1, '1h')).rejects.toMatchObject(timedOut(''));
    await expect(numbers.offerMany(fiveOffers)).rejects.toMatchObject(timedOut('messages[1]: '));
    for (const each of release) each();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await numbers.counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });
});

describe('a guard that hangs', () => {
  const scene = new Scene();

  test('makes the attempt fail at the timeout and frees the slot', async () => {
    const queue = scene.newQueue();
    class Hangs implements CanActivate {
      canActivate = () => never;
    }
    @Injectable()
    class Guarded {
      @UseGuards(Hangs)
      @DelayedHandler(queue, { concurrency: 1, attempts: 1, timeout: 100 })
      handle() {
        return undefined;
      }
    }
    const { producer } = await scene.startApp({ providers: [Guarded] });
    await producer.offerMany(queue, fiveOffers);
    await until(async () => (await producer.counts(queue)).dead === 5);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters[0]).toMatchObject({ error: { message: 'The handler took longer than its timeout of 100 ms' } });
  });
});
