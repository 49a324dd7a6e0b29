import { afterEach, describe, expect, test } from '@jest/globals';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  DelayQueueModule,
  type DelayQueueModuleOptions,
  type DelayQueueOptionsFactory,
  DelayQueueProducer,
} from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { startRedis } from '../support/redis/start-redis.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('the module', () => {
  const scene = new Scene();
  const options = (): DelayQueueModuleOptions => ({ connection: scene.url, prefix: scene.prefix });
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  @Injectable()
  class Factory implements DelayQueueOptionsFactory {
    createDelayQueueOptions(): Promise<DelayQueueModuleOptions> {
      return Promise.resolve(options());
    }
  }

  @Module({ providers: [Factory], exports: [Factory] })
  class ConfigModule {}

  test.each<[string, () => DynamicModule]>([
    [
      'useFactory with injected providers',
      () =>
        DelayQueueModule.forRootAsync({
          imports: [ConfigModule],
          inject: [Factory],
          useFactory: (factory: Factory) => factory.createDelayQueueOptions(),
        }),
    ],
    ['useClass', () => DelayQueueModule.forRootAsync({ useClass: Factory })],
    ['useExisting', () => DelayQueueModule.forRootAsync({ imports: [ConfigModule], useExisting: Factory })],
  ])('takes the forRootAsync options from %s', async (_how, delayQueue) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    app = await startRoot({ module: class {}, imports: [delayQueue()], providers: [handlerOf(queue, handled.record)] });
    await app.producer.offer(queue, 1, 0);
    await handled.untilCalls(1);
    await app.producer.offer(queue, 1, '1h');
    expect(await scene.redis.keys(`${scene.prefix}:{${queue}}:*`)).not.toEqual([]);
  });

  test.each<[string, unknown]>([
    ['connection', { connection: 'http://redis' }],
    ['connection', { connection: 6379 }],
    ['cluster.nodes', { connection: { cluster: { nodes: [] } } }],
    ['keyPrefix', { connection: { keyPrefix: 'a:' } }],
    ['store', { store: 'disk' }],
    ['prefix', { prefix: 'a{b}' }],
    ['consume', { consume: 'no' }],
    ['shutdownTimeout', { shutdownTimeout: 'soon' }],
    ['offerTimeout', { offerTimeout: -1 }],
    ['conection', { conection: 'redis://127.0.0.1' }],
    ['defaults.attempts', { defaults: { attempts: 0 } }],
    ['defaults.backoff.delay', { defaults: { backoff: { type: 'fixed', delay: '1 parsec' } } }],
    ['queues.orders.lease', { queues: { orders: { lease: 1 } } }],
    ['queues.orders.leese', { queues: { orders: { leese: 1 } } }],
    ['queues', { queues: { 'a b': {} } }],
  ])('makes startup fail and names the mistake in %s', async (field, mistaken) => {
    const root = { module: class {}, imports: [DelayQueueModule.forRoot(mistaken as DelayQueueModuleOptions)] };
    const error: unknown = await startRoot(root).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DelayQueueError', code: 'INVALID_OPTION' });
    expect((error as Error).message).toContain(field);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a URL', 'redis://:s3cret@127.0.0.1'],
    ['a function', () => ({})],
    ['a list', []],
    ['a Map', new Map([['store', 'memory']])],
    ['a BigInt', 5n],
    [
      'an object that throws when it is read',
      {
        get store(): never {
          throw new Error('no');
        },
      },
    ],
  ])('immediately refuses %s instead of options', (_what, given) => {
    for (const import_ of [DelayQueueModule.forRoot, DelayQueueModule.forRootAsync]) {
      expect(() => import_.call(DelayQueueModule, given as never)).toThrow(
        expect.objectContaining({
          name: 'DelayQueueError',
          code: 'INVALID_OPTION',
          message: expect.not.stringContaining('s3cret'),
        }),
      );
    }
  });

  test('immediately refuses forRootAsync without a source of options', () => {
    expect(() => DelayQueueModule.forRootAsync({})).toThrow('needs useFactory, useClass or useExisting');
  });

  test('makes startup fail because of a mistake in the forRootAsync options', async () => {
    const delayQueue = DelayQueueModule.forRootAsync({ useFactory: () => ({ consume: 'no' as never }) });
    await expect(startRoot({ module: class {}, imports: [delayQueue] })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
  });

  test.each([
    ['the same options', {}],
    ['different options', { prefix: 'other' }],
  ])('makes startup fail and names both places when imported twice with %s', async (_how, others) => {
    @Module({ imports: [DelayQueueModule.forRoot({ ...options(), ...others })] })
    class OrdersModule {}
    @Module({ imports: [DelayQueueModule.forRoot(options()), OrdersModule] })
    class AppModule {}
    const error: unknown = await startRoot(AppModule).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DelayQueueError', code: 'INVALID_OPTION' });
    expect((error as Error).message).toContain('(by AppModule, OrdersModule)');
    expect((error as Error).message).not.toContain('different');
  });

  test('may be shared by several modules as one import', async () => {
    const shared = DelayQueueModule.forRoot(options());
    @Module({ imports: [shared] })
    class OrdersModule {}
    app = await startRoot({ module: class {}, imports: [shared, OrdersModule] });
    await expect(app.producer.counts(scene.newQueue())).resolves.toMatchObject({ delayed: 0 });
  });

  test('names the queue whose options are invalid only in combination', async () => {
    const module = { defaults: { rate: { max: 1, per: '1s' } } };
    const providers = [handlerOf('orders', () => undefined, { partitions: 2 })];
    const error: unknown = await scene.startApp({ module, providers }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'INVALID_OPTION' });
    expect((error as Error).message).toContain(
      "options of queue 'orders': rate max must be at least 2, the number of partitions",
    );
  });

  test("lets options in 'queues' override those of the decorator, which override 'defaults'", async () => {
    const [queue, other] = [scene.newQueue(), scene.newQueue()];
    const fail = () => {
      throw new Error('no');
    };
    const { producer } = await scene.startApp({
      module: {
        defaults: { attempts: 9, backoff: { type: 'fixed', delay: 1 } },
        queues: { [queue]: { attempts: 3, maxMessages: 1 } },
      },
      providers: [handlerOf(queue, fail, { attempts: 8 }), handlerOf(other, fail, { attempts: 2 })],
    });
    await producer.offer(queue, 1, 0, { id: 'm' });
    await expect(producer.offer(queue, 1, 0)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await producer.offer(other, 1, 0, { id: 'm' });
    const died = async (name: string) => (await producer.find(name, 'm'))?.state === 'dead';
    await until(async () => (await died(queue)) && (await died(other)));
    expect((await producer.find(queue, 'm'))!.failedAttempts).toBe(3);
    expect((await producer.find(other, 'm'))!.failedAttempts).toBe(2);
  });

  test.each(['redis', 'memory'] as const)(
    "applies the handler's options to a queue that is used during startup, in %s",
    async (store) => {
      const queue = scene.newQueue();
      @Injectable()
      class Early {
        constructor(producer: DelayQueueProducer) {
          producer.deadLetters(queue);
        }
      }
      const handler = handlerOf(queue, () => undefined, { maxMessages: 1 });
      const { producer } = await scene.startApp({ module: { store }, providers: [Early, handler] });
      await producer.offer(queue, 1, '1h');
      await expect(producer.offer(queue, 2, '1h')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    },
  );

  test("offers but does not handle messages with 'consume: false'", async () => {
    const queue = scene.newQueue();
    const [here, there] = [new Handled(), new Handled()];
    const { producer, log } = await scene.startApp({
      module: { consume: false },
      providers: [handlerOf(queue, here.record)],
    });
    expect(log.filter((line) => line.includes('consume: false'))).toEqual([
      expect.stringContaining(`${queue} (TestHandler.handle)`),
    ]);
    await producer.offer(queue, 1, 0);
    await scene.startApp({ providers: [handlerOf(queue, there.record)] });
    await there.untilCalls(1);
    expect(here.calls).toEqual([]);
  });

  test('keeps applications in one process separate by prefix or server', async () => {
    const queue = scene.newQueue();
    const server = await startRedis();
    const modules = [{}, { prefix: `${scene.prefix}-b` }, { connection: server.url }];
    const handled = modules.map(() => new Handled());
    const apps = await Promise.all(
      modules.map((module, i) => scene.startApp({ module, providers: [handlerOf(queue, handled[i]!.record)] })),
    );

    await Promise.all(apps.map(({ producer }, i) => producer.offer(queue, i, 20 * i, { id: 'same' })));
    await Promise.all(handled.map((each) => each.untilCalls(1)));
    expect(handled.map(({ payloads }) => payloads)).toEqual([[0], [1], [2]]);

    await apps[0]!.close();
    await apps[2]!.producer.offer(queue, 'still', 0);
    await handled[2]!.untilCalls(2);

    await apps[2]!.close();
    await scene.redis.del(...(await scene.redis.keys(`${scene.prefix}-b:*`)), 'none');
    await server.stop();
  });

  test('uses clients created by a function and closes them with the application', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const clients: Redis[] = [];
    const { producer, close } = await scene.startApp({
      module: {
        connection: (overrides) => {
          const client = new Redis(scene.url, { ...overrides, db: 3 });
          clients.push(client);
          return client;
        },
      },
      providers: [handlerOf(queue, handled.record)],
    });
    await producer.offer(queue, 1, 0);
    await handled.untilCalls(1);
    expect(clients.length).toBeGreaterThanOrEqual(3);
    await close();
    expect(clients.map(({ status }) => status)).toEqual(clients.map(() => 'end'));
    await expect(producer.offer(queue, 1, 0)).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
