import { afterEach, describe, expect, test } from '@jest/globals';
import { Injectable, type Provider, type Type, UseInterceptors } from '@nestjs/common';
import {
  DelayedHandler,
  DelayQueueListener,
  type DelayQueueModuleOptions,
  type DelayQueueObserver,
  OnDelayQueueEvent,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const MEMORY: DelayQueueModuleOptions = { store: 'memory' };

@Injectable()
class Untouched {
  intercept(_context: unknown, next: { handle(): unknown }): unknown {
    return next.handle();
  }
}

describe('a generator', () => {
  let app: TestApp | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  const failureOf = (module: DelayQueueModuleOptions, ...providers: Provider[]): Promise<unknown> =>
    startTestApp({ ...MEMORY, ...module }, { providers }).then(
      (started) => ((app = started), 'it started'),
      (error: unknown) => error,
    );

  const generator = (place: string) =>
    `${place}: it is a generator (*), whose body would never run: write an ordinary or async method`;

  @Injectable()
  class Sync {
    @DelayedHandler('orders')
    *handle() {
      yield 1;
    }
  }

  @Injectable()
  class Async {
    @DelayedHandler('orders', 'remind')
    async *handle() {
      yield await Promise.resolve(1);
    }
  }

  const Wrapped: MethodDecorator = (_target, _name, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...args: unknown[]): unknown {
      return method.apply(this, args);
    };
  };

  @Injectable()
  class InWrapper {
    @Wrapped
    @DelayedHandler('orders')
    *handle() {
      yield 1;
    }
  }

  class Base {
    @DelayedHandler('orders')
    handle(): unknown {
      return 1;
    }
  }

  @Injectable()
  class Override extends Base {
    override *handle() {
      yield 1;
    }
  }

  test.each<[string, Type, string]>([
    ['as a handler', Sync, '@DelayedHandler on Sync.handle'],
    ['as an async handler', Async, '@DelayedHandler on Async.handle'],
    ['as a wrapped handler', InWrapper, '@DelayedHandler on InWrapper.handle'],
    ['as the override of a handler', Override, '@DelayedHandler on Override.handle'],
  ])('makes startup fail %s', async (_what, provider, place) => {
    expect(await failureOf({}, provider)).toMatchObject({ code: 'INVALID_HANDLER', message: generator(place) });
  });

  test('makes startup fail as a listener', async () => {
    @Injectable()
    class Alarm {
      @OnDelayQueueEvent('dead')
      *tell() {
        yield 1;
      }
    }
    expect(await failureOf({}, Alarm)).toMatchObject({
      code: 'INVALID_LISTENER',
      message: generator('@OnDelayQueueEvent on Alarm.tell'),
    });
  });

  class Observer implements DelayQueueObserver {
    async *handle(_message: unknown, next: () => unknown) {
      yield await next();
    }
  }

  test('makes startup fail as an observer method', async () => {
    const unusable = (place: string, code: string) => ({
      code,
      message: expect.stringMatching(new RegExp(`${place}.*generator`)),
    });
    @DelayQueueListener()
    class Listener extends Observer {}
    expect(await failureOf({}, Listener)).toMatchObject(unusable('on Listener', 'INVALID_LISTENER'));
    expect(await failureOf({ observers: [new Observer()] })).toMatchObject(unusable('observers', 'INVALID_OPTION'));
  });
});

/** A generator compiled for a target without generators: a function whose result does nothing until it is iterated. */
const compiled = (kind: typeof Symbol.iterator | typeof Symbol.asyncIterator, onRun: () => void): object => ({
  next: () => (onRun(), { done: true, value: undefined }),
  [kind]() {
    return this;
  },
});

/** Values that a handler may return although none of their code has run. */
const UNSTARTED: readonly [string, (onRun: () => void) => unknown][] = [
  ['a compiled generator', (onRun) => compiled(Symbol.iterator, onRun)],
  ['a compiled async generator', (onRun) => compiled(Symbol.asyncIterator, onRun)],
  ['the promise of a generator', (onRun) => Promise.resolve(compiled(Symbol.asyncIterator, onRun))],
  [
    'a generator created by a helper',
    (onRun) =>
      (function* (): Generator<void> {
        yield onRun();
      })(),
  ],
];

describe.each<[string, DelayQueueModuleOptions]>([
  ['native', {}],
  ['partitioned', { defaults: { partitions: 2 } }],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', MEMORY],
])('an iterator that was never iterated, on %s', (_store, module) => {
  const scene = new Scene();

  test.each(UNSTARTED)('fails the attempt that returns it: %s', async (_what, make) => {
    const queue = scene.newQueue();
    let runs = 0;
    const options = { attempts: 1 };
    const { producer } = await scene.startApp({
      module,
      providers: [handlerOf(queue, () => make(() => runs++), options)],
    });
    const { id } = await producer.offer(queue, 'one', 0);
    await until(async () => (await producer.counts(queue)).dead === 1);
    const [dead] = (await producer.deadLetters(queue).list()).messages;
    expect(dead).toMatchObject({
      id,
      error: { name: 'UnusedIterator', message: expect.stringContaining('has not run') },
    });
    expect(runs).toBe(0);
  });

  test('fails only the message of the batch for which it is returned', async () => {
    const queue = scene.newQueue();
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 10, attempts: 1 })
      handle(payloads: string[]): unknown {
        return payloads.map((payload) => (payload === 'bad' ? compiled(Symbol.iterator, () => undefined) : undefined));
      }
    }
    const { producer } = await scene.startApp({ module, providers: [Batches] });
    await producer.offerMany(
      queue,
      ['good', 'bad', 'fine'].map((payload) => ({ payload, delay: 0 })),
    );
    await until(async () => (await producer.counts(queue)).dead === 1);
    const [dead] = (await producer.deadLetters(queue).list()).messages;
    expect(dead).toMatchObject({ payload: 'bad', error: { name: 'UnusedIterator' } });
    await until(async () => (await producer.find(queue, dead!.id))?.state === 'dead');
  });
});

describe('an iterator that was never iterated', () => {
  const scene = new Scene();

  test('fails the attempt of a handler with an interceptor', async () => {
    @Injectable()
    @UseInterceptors(Untouched)
    class Intercepted {
      @DelayedHandler('orders', { attempts: 1 })
      handle(): unknown {
        return compiled(Symbol.asyncIterator, () => undefined);
      }
    }
    const { producer } = await scene.startApp({ module: MEMORY, providers: [Intercepted] });
    await producer.offer('orders', 'one', 0);
    await until(async () => (await producer.counts('orders')).dead === 1);
    const [dead] = (await producer.deadLetters('orders').list()).messages;
    expect(dead).toMatchObject({ error: { name: 'UnusedIterator' } });
  });

  test.each<[string, object | string]>([
    ['an array', [1]],
    ['a Map', new Map([[1, 2]])],
    ['a string', 'text'],
  ])('is not confused with %s, which a handler may return', async (what, result) => {
    const { producer } = await scene.startApp({ module: MEMORY, providers: [handlerOf('orders', () => result)] });
    const { id } = await producer.offer('orders', what, 0);
    await until(async () => (await producer.find('orders', id)) === null);
    expect(await producer.counts('orders')).toMatchObject({ dead: 0 });
  });

  test('is logged if a listener or an observer returns it', async () => {
    @Injectable()
    class Alarm {
      @OnDelayQueueEvent('handled')
      tell(): unknown {
        return compiled(Symbol.iterator, () => undefined);
      }
    }
    class Observer implements DelayQueueObserver {
      handle(): unknown {
        return Promise.resolve(compiled(Symbol.asyncIterator, () => undefined));
      }
    }
    const { producer, log } = await scene.startApp({
      module: { ...MEMORY, observers: [new Observer()] },
      providers: [Alarm, handlerOf('orders', () => undefined)],
    });
    await producer.offer('orders', 'one', 0);
    const complaints = () => log.filter((line) => line.includes('UnusedIterator'));
    await until(() => complaints().length === 2);
    expect(complaints()).toEqual([expect.stringContaining('Observer'), expect.stringContaining('Alarm.tell')]);
  });
});
