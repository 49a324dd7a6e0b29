import { describe, expect, test } from '@jest/globals';
import { type CallHandler, Catch, Injectable, type NestInterceptor, UseFilters, UseInterceptors } from '@nestjs/common';
import { from, map, of, throwError } from 'rxjs';
import {
  again,
  DeferMessage,
  DelayedHandler,
  type DelayedMessage,
  type DelayQueueObserver,
  RejectMessage,
} from '../../lib/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The values with which a handler may end, and the state of a message after such a second attempt. */
const WORDS: Readonly<Record<string, { make: () => object; becomes: object }>> = {
  'again()': { make: () => again('1h'), becomes: { state: 'delayed', failedAttempts: 0 } },
  DeferMessage: { make: () => new DeferMessage('1h'), becomes: { state: 'delayed', failedAttempts: 1 } },
  RejectMessage: {
    make: () => new RejectMessage('no such order'),
    becomes: { state: 'dead', error: { name: 'RejectMessage', message: 'no such order' } },
  },
};

const raise = (word: unknown): never => {
  throw word;
};

const WAYS: Readonly<Record<string, (word: object) => unknown>> = {
  'is returned': (word) => word,
  'is thrown': raise,
  'resolves a promise': (word) => Promise.resolve(word),
  'rejects a promise': (word) => Promise.resolve(word).then(raise),
  'ends an Observable': (word) => from([1, word]),
  'fails an Observable': (word) => throwError(() => word),
};

/** The ways in which a handler of batches gives such a value for each message. */
const PER_MESSAGE: Readonly<Record<string, (word: object) => unknown>> = {
  'is a result': (word) => word,
  'resolves a promised result': (word) => Promise.resolve(word),
  'rejects a promised result': (word) => Promise.resolve(word).then(raise),
  'is a rejected result of allSettled': (reason) => ({ status: 'rejected', reason }),
  'is a fulfilled result of allSettled': (value) => ({ status: 'fulfilled', value }),
};

const CASES = Object.keys(WORDS).flatMap((word) => Object.keys(WAYS).map((way) => [word, way] as const));
const BATCH_CASES = Object.keys(WORDS).flatMap((word) => Object.keys(PER_MESSAGE).map((way) => [word, way] as const));

const OPTIONS = { attempts: 5, backoff: { type: 'fixed', delay: 0 } } as const;

describe.each([
  ['native', {}],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', { store: 'memory' as const }],
])('the result of a handler, on %s', (_, module) => {
  const scene = new Scene();

  test.each(CASES)('%s takes effect when it %s', async (word, way) => {
    const queue = scene.newQueue();
    const { make, becomes } = WORDS[word]!;
    let isOver = false;
    const handle = (_payload: unknown, { attempt }: DelayedMessage) => {
      if (attempt === 1) throw new Error('not yet');
      isOver = true;
      return WAYS[way]!(make());
    };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handle, OPTIONS)] });
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => isOver);
    await until(async () => (await producer.find(queue, 'a'))?.state === (becomes as { state: string }).state);
    expect(await producer.find(queue, 'a')).toMatchObject(becomes);
  });

  test.each(CASES)('%s takes effect on every message of a batch when it %s', async (word, way) => {
    let isCalled = false;
    const { producer, queue } = await startBatches(() => {
      isCalled = true;
      return WAYS[way]!(WORDS[word]!.make());
    });
    const { state } = WORDS[word]!.becomes as { state: 'delayed' | 'dead' };
    // Until then, both are delayed by their offers.
    await until(() => isCalled);
    await until(async () => (await producer.counts(queue))[state] === 2);
    expect(await producer.counts(queue)).toMatchObject({ active: 0, ready: 0 });
  });

  test.each(BATCH_CASES)('%s takes effect on a single message of a batch when it %s', async (word, way) => {
    const { producer, queue } = await startBatches(() => [undefined, PER_MESSAGE[way]!(WORDS[word]!.make())]);
    const { state } = WORDS[word]!.becomes as { state: 'delayed' | 'dead' };
    await until(async () => (await producer.find(queue, 'b'))?.state === state);
    await until(async () => (await producer.find(queue, 'a')) === null);
    expect(await producer.counts(queue)).toMatchObject({ [state]: 1, active: 0, ready: 0 });
  });

  async function startBatches(handle: () => unknown) {
    const queue = scene.newQueue();
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 2, batchWait: '10s' })
      handle(): unknown {
        return handle();
      }
    }
    const { producer } = await scene.startApp({ module, providers: [Batches] });
    await producer.offerMany(queue, [
      { payload: 1, delay: 0, id: 'a' },
      { payload: 2, delay: 0, id: 'b' },
    ]);
    return { producer, queue };
  }
});

describe('the result of a handler with enhancers', () => {
  const scene = new Scene();

  /** Handles any error of an application, as a filter for routes does. */
  @Catch()
  class CatchAll {
    catch(): string {
      return 'handled';
    }
  }

  @Injectable()
  class PassOn implements NestInterceptor {
    intercept(_context: unknown, next: CallHandler) {
      return next.handle().pipe(map((value: unknown) => value));
    }
  }

  test.each(CASES)('%s passes through interceptors and catch-all filters when it %s', async (word, way) => {
    const queue = scene.newQueue();
    const { make, becomes } = WORDS[word]!;
    @Injectable()
    @UseInterceptors(PassOn)
    @UseFilters(CatchAll)
    class Enhanced {
      @DelayedHandler(queue)
      handle(): unknown {
        return WAYS[way]!(make());
      }
    }
    const { producer } = await startAndOffer(queue, Enhanced);
    const { state } = becomes as { state: string };
    expect((await producer.find(queue, 'a'))?.state).toBe(state);
  });

  test.each(Object.keys(WORDS))(
    '%s has the same effect whether a filter or an interceptor returns or throws it',
    async (word) => {
      const { make, becomes } = WORDS[word]!;
      @Catch()
      class Return {
        catch(): unknown {
          return of(make());
        }
      }
      @Catch()
      class Throw {
        catch(): never {
          return raise(make());
        }
      }
      class ReturnInstead implements NestInterceptor {
        intercept = () => of(make());
      }
      class ThrowInstead implements NestInterceptor {
        intercept = () => throwError(make);
      }
      const ends: Record<string, MethodDecorator> = {
        'a filter returns': UseFilters(new Return()),
        'a filter throws': UseFilters(new Throw()),
        'an interceptor returns': UseInterceptors(new ReturnInstead()),
        'an interceptor throws': UseInterceptors(new ThrowInstead()),
      };
      const reported: Record<string, unknown> = {};
      for (const [what, enhance] of Object.entries(ends)) {
        const queue = scene.newQueue();
        @Injectable()
        class Enhanced {
          @DelayedHandler(queue)
          @enhance
          handle(): void {
            throw new Error('no');
          }
        }
        const { producer } = await startAndOffer(queue, Enhanced);
        reported[what] = (await producer.find(queue, 'a'))?.state;
      }
      const { state } = becomes as { state: string };
      expect(reported).toEqual(Object.fromEntries(Object.keys(ends).map((what) => [what, state])));
    },
  );

  /** Resolves once the message has been handled. */
  async function startAndOffer(queue: string, handler: new () => object) {
    let isSettled = false;
    const observer: DelayQueueObserver = {
      event: ({ name }) => void (isSettled ||= ['handled', 'again', 'deferred', 'retried', 'dead'].includes(name)),
    };
    const app = await scene.startApp({ module: { observers: [observer] }, providers: [handler] });
    await app.producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => isSettled);
    return app;
  }
});

describe('the result of a handler', () => {
  test('reaches observers as the same outcome and events, whether returned or thrown', async () => {
    const reported: Record<string, string[]> = {};
    for (const word of Object.keys(WORDS)) {
      for (const way of ['is returned', 'is thrown']) {
        const lines: string[] = (reported[`${word} ${way}`] = []);
        const app = await startTestApp(
          {
            store: 'memory',
            observers: [
              {
                handle: async (_message, next) => void lines.push(`outcome ${(await next()).kind}`),
                // The scheduler reports the transfer at a time of its own, between the events of the handler.
                event: ({ name }) => void (name === 'transferred' || lines.push(name)),
              },
            ],
          },
          { providers: [handlerOf('orders', () => WAYS[way]!(WORDS[word]!.make()))] },
        );
        await app.producer.offer('orders', 1, 0);
        await until(() => lines.some((line) => ['again', 'deferred', 'dead', 'handled'].includes(line)));
        await app.close();
      }
    }
    for (const word of Object.keys(WORDS))
      expect(reported[`${word} is thrown`]).toEqual(reported[`${word} is returned`]);
    expect(reported['again() is thrown']).toEqual(expect.arrayContaining(['outcome again', 'again']));
    expect(reported['DeferMessage is returned']).toEqual(expect.arrayContaining(['outcome defer', 'deferred']));
    expect(reported['RejectMessage is returned']).toEqual(expect.arrayContaining(['outcome dead', 'failed', 'dead']));
  });

  test.each(CASES)('is the same outcome when a test calls the handler: %s %s', async (word, way) => {
    const app = await startTestApp(
      {},
      {
        imports: [DelayQueueTestingModule],
        providers: [handlerOf('orders', () => WAYS[way]!(WORDS[word]!.make()))],
      },
    );
    const { kind } = await app.context.get(DelayQueueTester).handle('orders', 1);
    expect(kind).toBe({ 'again()': 'again', DeferMessage: 'defer', RejectMessage: 'dead' }[word]);
    await app.close();
  });
});
