import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as nestCommon from '@nestjs/common';
import { Catch, Injectable, Module, UseFilters } from '@nestjs/common';
import * as nestCore from '@nestjs/core';
import * as own from '../../lib/index.js';
import * as ownRedisson from '../../packages/redisson/src/index.js';
import { DelayQueueTestingModule } from '../../lib/testing/index.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startRoot } from '../support/test-app.js';
import { until } from '../support/until.js';

type Copy = typeof own & { readonly redisson: typeof ownRedisson };

/** Another copy of the package in this process, as in a monorepo: it has its own classes and symbols. */
let other: Copy;
beforeAll(() =>
  jest.isolateModulesAsync(async () => {
    // They share Nest, because an application with two copies of Nest does not start.
    jest.unstable_mockModule('@nestjs/common', () => nestCommon);
    jest.unstable_mockModule('@nestjs/core', () => nestCore);
    other = { ...(await import('../../lib/index.js')), redisson: await import('../../packages/redisson/src/index.js') };
  }),
);

describe('another copy of the package', () => {
  const scene = new Scene();

  const ENDS: [name: string, end: () => object, becomes: object][] = [
    ['again()', () => other.again('1h', { payload: 2 }), { state: 'delayed', payload: 2 }],
    ['DeferMessage', () => new other.DeferMessage('1h'), { state: 'delayed', payload: 1 }],
    ['RetryMessage', () => new other.RetryMessage('1h'), { state: 'delayed', failedAttempts: 1 }],
    ['RejectMessage', () => new other.RejectMessage('no'), { state: 'dead', error: { name: 'RejectMessage' } }],
  ];
  const raise = (thrown: unknown): never => {
    throw thrown;
  };
  const CASES = ENDS.flatMap(([name, end, becomes]) => [
    [name, 'returned', end, becomes] as const,
    [name, 'thrown', () => raise(end()), becomes] as const,
  ]);

  test.each(CASES)("exports %s, which works like this copy's when it is %s", async (_name, _way, end, becomes) => {
    const queue = scene.newQueue();
    let isOver = false;
    const handle = () => {
      isOver = true;
      return end();
    };
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handle)] });
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => isOver);
    const { state } = becomes as { state: string };
    await until(async () => (await producer.find(queue, 'a'))?.state === state);
    expect(await producer.find(queue, 'a')).toMatchObject(becomes);
  });

  test("exports classes whose instances pass as instances of this copy's classes, and of no others", () => {
    class Sold extends own.RejectMessage {}
    class OtherSold extends other.RejectMessage {}
    const rejection = new other.RejectMessage('no');
    expect(other.RejectMessage).not.toBe(own.RejectMessage);
    expect(rejection).toBeInstanceOf(own.RejectMessage);
    expect(new OtherSold('no')).toBeInstanceOf(own.RejectMessage);
    expect(new Sold('no')).toBeInstanceOf(Sold);
    expect(new Sold('no')).toBeInstanceOf(other.RejectMessage);
    expect(rejection instanceof Sold).toBe(false);
    expect(rejection instanceof own.DeferMessage).toBe(false);
    expect(new other.DelayQueueError('CLOSED', 'closed')).toBeInstanceOf(own.DelayQueueError);
    for (const value of [undefined, null, 'text', {}, new Error('no')]) {
      expect(value instanceof own.DelayQueueError).toBe(false);
    }
  });

  test("throws errors that a filter for this copy's class catches", async () => {
    const queue = scene.newQueue();
    @Catch(own.DelayQueueError)
    class RejectWhatFails {
      catch({ code }: own.DelayQueueError): never {
        throw new own.RejectMessage(code);
      }
    }
    @Injectable()
    class Handler {
      @own.DelayedHandler(queue)
      @UseFilters(RejectWhatFails)
      handle(): never {
        throw new other.DelayQueueError('QUEUE_FULL', 'full');
      }
    }
    const { producer } = await scene.startApp({ providers: [Handler] });
    await producer.offer(queue, 1, 0);
    await until(async () => (await producer.counts(queue)).dead === 1);
    const { messages } = await producer.deadLetters(queue).list();
    expect(messages[0]!.error).toMatchObject({ name: 'RejectMessage', message: 'QUEUE_FULL' });
  });

  test('exports decorators and typed queues that this copy finds', async () => {
    const [queue, typed] = [scene.newQueue(), scene.newQueue()];
    const Typed = other.DelayQueue(typed, other.payload<number>(), { attempts: 1 });
    const reported: string[] = [];
    @Injectable()
    @other.DelayQueueListener()
    class Handlers {
      @other.DelayedHandler(queue)
      handlePlain(): void {
        reported.push('handled');
      }
      @other.DelayedHandler(Typed)
      handleTyped(): void {
        throw new Error('no');
      }
      @other.OnDelayQueueEvent('dead', Typed)
      tell(): void {
        reported.push('dead');
      }
      event({ name }: { readonly name: string }): void {
        if (name === 'handled') reported.push('observed');
      }
    }
    const { producer } = await scene.startApp({ providers: [Handlers] });
    await producer.offer(queue, 1, 0);
    await producer.offer(typed, 1, 0);
    await until(() => reported.length === 3);
    expect(reported.sort()).toEqual(['dead', 'handled', 'observed']);
  });

  test('exports a layout, codecs and Java values that this copy accepts', async () => {
    const [queue, foreign] = [scene.newQueue(), scene.newQueue()];
    const { jackson, JavaValue, json, JsonNumber } = other.redisson;
    const uuid = () => new JavaValue('java.util.UUID', '01234567-89ab-cdef-0123-456789abcdef');
    const queues = {
      [queue]: { layout: ownRedisson.redisson({ codec: 'jackson' }) },
      [foreign]: { layout: other.redisson.redisson({ codec: jackson() }) },
    };
    const { producer } = await scene.startApp({ module: { queues } });
    for (const name of [queue, foreign]) {
      await producer.offer(name, { id: uuid() }, '1h');
      await producer.offer(name, { id: new ownRedisson.JavaValue(uuid().type, uuid().value) }, '1h');
      const { messages } = await producer.list<{ id: own.DelayQueueError }>(name, 'delayed');
      expect(messages.map(({ payload }) => payload.id)).toEqual([uuid(), uuid()]);
    }
    const encoded = ownRedisson.json().encode({ price: new JsonNumber('12.50') });
    expect(String(encoded)).toBe('{"price":12.50}');
    expect(String(json().encode({ price: new ownRedisson.JsonNumber('12.50') }))).toBe('{"price":12.50}');
  });

  test('exports configured codecs that this copy recognizes', () => {
    const layout = ownRedisson.redisson({ codec: other.redisson.json() });
    expect(layout).toHaveProperty('codec.isOwn');
    expect(ownRedisson.redisson({ codec: { ...other.redisson.json() } })).not.toHaveProperty('codec.isOwn');
  });

  describe('startup', () => {
    const module = (copy: Pick<Copy, 'DelayQueueModule'>, name?: string) =>
      copy.DelayQueueModule.forRoot({ store: 'memory', ...(name && { name }) });

    test.each([
      ['with the same name', undefined],
      ['with different names', 'billing'],
    ])('fails with modules from both copies, %s', async (_what, name) => {
      expect(
        await refusalOf(startRoot({ module: class {}, imports: [module(own), module(other, name)] })),
      ).toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/two copies of nestjs-delay-queue.*npm ls nestjs-delay-queue/),
      });
    });

    test('fails with the testing module of another copy', async () => {
      const imports = [module(other), DelayQueueTestingModule];
      expect(await refusalOf(startRoot({ module: class {}, imports }))).toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('of the same copy of the package'),
      });
    });

    test("fails if another copy's producer or typed queue is injected", async () => {
      @Injectable()
      class Service {
        constructor(readonly producer: own.DelayQueueProducer) {}
      }
      Reflect.defineMetadata('design:paramtypes', [other.DelayQueueProducer], Service);
      const Typed = other.DelayQueue('typed', other.payload<number>());
      for (const provider of [Service, Typed]) {
        @Module({ imports: [module(own)], providers: [provider] })
        class Root {}
        expect(String(await refusalOf(startRoot(Root)))).toMatch(/Nest can't resolve dependencies/);
      }
    });
  });
});
