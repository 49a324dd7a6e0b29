import { afterEach, describe, expect, test } from '@jest/globals';
import { type DynamicModule, Injectable, Module, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  type DelayQueueEvent,
  DelayQueueListener,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  type DelayQueueObserver,
  DelayQueueProducer,
  getDelayQueueProducerToken,
  InjectDelayQueueProducer,
  OnDelayQueueEvent,
  payload,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const unnamed = new Scene();
const billing = new Scene({});
let app: TestApp | undefined;
afterEach(() => app?.close());

const placeOf = ({ url, prefix }: Scene): DelayQueueModuleOptions => ({ connection: url, prefix });
const UNNAMED = () => DelayQueueModule.forRoot(placeOf(unnamed));
const BILLING = (options: DelayQueueModuleOptions = {}) =>
  DelayQueueModule.forRoot({ name: 'billing', ...placeOf(billing), ...options });
const CACHE = () => DelayQueueModule.forRootAsync({ name: 'cache', useFactory: () => ({ store: 'memory' as const }) });

/** Starts an application with these imports and providers. */
async function start(imports: readonly (Type | DynamicModule)[], providers: Provider[] = []): Promise<TestApp> {
  return (app = await startRoot({ module: class {}, imports: [...imports], providers }));
}

/** The error with which an application with these imports and providers fails to start. */
async function refusal(imports: readonly (Type | DynamicModule)[], providers: Provider[] = []): Promise<unknown> {
  return start(imports, providers).then(
    () => 'it starts',
    (error: unknown) => error,
  );
}

const producerOf = (instance: string) =>
  app!.context.get<DelayQueueProducer>(getDelayQueueProducerToken(instance), { strict: false });

/** The handled messages and their instances. */
let handled: string[] = [];
afterEach(() => void (handled = []));

@Injectable()
class TwoHandlers {
  @DelayedHandler('orders')
  ofNone(text: string): void {
    handled.push(`unnamed ${text}`);
  }

  @DelayedHandler('orders', { instance: 'billing' })
  ofBilling(text: string): void {
    handled.push(`billing ${text}`);
  }
}

@Injectable()
class Handlers extends TwoHandlers {
  @DelayedHandler('orders', 'urgent', { instance: 'billing', timeout: '10s' })
  ofOneType(text: string): void {
    handled.push(`billing urgent ${text}`);
  }

  @DelayedHandler('orders', { instance: 'cache' })
  ofCache(text: string): void {
    handled.push(`cache ${text}`);
  }
}

describe('an application with several instances', () => {
  test.each([
    ['in one order', () => [UNNAMED(), BILLING(), CACHE()]],
    ['in the other order', () => [CACHE(), BILLING(), UNNAMED()]],
  ])('handles each message in its own instance when the instances are imported %s', async (_order, imports) => {
    @Injectable()
    class Shop {
      @InjectDelayQueueProducer('cache') readonly cache!: DelayQueueProducer;

      constructor(
        readonly producer: DelayQueueProducer,
        @InjectDelayQueueProducer('billing') readonly billing: DelayQueueProducer,
      ) {}
    }
    await start(imports(), [Handlers, Shop]);
    const shop = app!.context.get(Shop);
    expect(shop.producer).toBe(app!.context.get(DelayQueueProducer));
    expect(shop.billing).toBe(producerOf('billing'));
    await shop.producer.offer('orders', 'a', 0, { id: 'same' });
    await shop.billing.offer('orders', 'b', 0, { id: 'same' });
    await shop.billing.offer('orders', 'c', 0, { type: 'urgent' });
    await shop.cache.offer('orders', 'd', 0, { id: 'same' });
    await until(() => handled.length === 4);
    expect(handled.sort()).toEqual(['billing b', 'billing urgent c', 'cache d', 'unnamed a']);
  });

  test('finds, counts and cancels the messages of one instance without touching the others', async () => {
    await start([UNNAMED(), BILLING(), CACHE()]);
    const queue = unnamed.newQueue();
    for (const instance of [app!.producer, producerOf('billing'), producerOf('cache')]) {
      await instance.offer(queue, null, '1h', { id: 'm' });
    }
    expect(await producerOf('billing').cancel(queue, 'm')).toBe(true);
    expect(await producerOf('billing').find(queue, 'm')).toBeNull();
    expect(await app!.producer.find(queue, 'm')).toMatchObject({ state: 'delayed' });
    expect(await producerOf('cache').counts(queue)).toMatchObject({ delayed: 1 });
    expect(await billing.redis.exists(billing.key(queue, 'delayed'))).toBe(0);
    expect(await unnamed.redis.zcard(unnamed.key(queue, 'delayed'))).toBe(1);
  });

  test('has typed queues that belong to the instance named in their class', async () => {
    class Invoices extends DelayQueue('invoices', payload<{ of: string }>(), { instance: 'billing', attempts: 1 }) {}
    class Mails extends DelayQueue(
      'invoices',
      { sent: payload<string>(), lost: payload<string>() },
      { instance: 'cache' },
    ) {}

    @Injectable()
    class Accounting {
      constructor(
        readonly invoices: Invoices,
        readonly mails: Mails,
      ) {}

      @DelayedHandler(Invoices)
      async send({ of }: { of: string }): Promise<void> {
        handled.push(`invoice ${of}`);
        await this.mails.offer('sent', of, 0);
      }

      @DelayedHandler(Mails, 'sent')
      sent(of: string): void {
        handled.push(`mail ${of}`);
      }

      @DelayedHandler(Mails, 'lost')
      lost(): void {}
    }
    await start([UNNAMED(), BILLING(), CACHE()], [Invoices, Mails, Accounting]);
    const { invoices } = app!.context.get(Accounting);
    await invoices.offer({ of: 'ada' }, '1h', { id: 'i' });
    expect(await producerOf('billing').find('invoices', 'i')).toMatchObject({ state: 'delayed' });
    expect(await app!.producer.find('invoices', 'i')).toBeNull();
    expect(await invoices.reschedule('i', 0)).toBe(true);
    await until(() => handled.length === 2);
    expect(handled).toEqual(['invoice ada', 'mail ada']);
  });

  test('may have only named instances', async () => {
    class Invoices extends DelayQueue('invoices', payload<string>(), { instance: 'billing' }) {}

    @Module({ imports: [BILLING(), CACHE()], providers: [Invoices] })
    class AppModule {}
    const context = await NestFactory.createApplicationContext(AppModule, { logger: false });
    await context.get(Invoices).offer('a', '1h', { id: 'i' });
    const producer = context.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'), { strict: false });
    expect(await producer.counts('invoices')).toMatchObject({ delayed: 1 });
    expect(() => context.get(DelayQueueProducer, { strict: false })).toThrow();
    await producer.clear('invoices');
    await context.close();
  });

  test('may handle queues of two instances with one method', async () => {
    class Both {
      @DelayedHandler('orders', { instance: 'billing' })
      @DelayedHandler('orders', { instance: 'cache' })
      handle(text: string): void {
        handled.push(text);
      }
    }
    await start([UNNAMED(), BILLING(), CACHE()], [Both]);
    await producerOf('billing').offer('orders', 'b', 0);
    await producerOf('cache').offer('orders', 'c', 0);
    await until(() => handled.length === 2);
    expect(handled.sort()).toEqual(['b', 'c']);
  });

  test('has separate options for queues of the same name', async () => {
    class Failing {
      @DelayedHandler('orders', { attempts: 1 })
      @DelayedHandler('orders', { attempts: 7, instance: 'billing' })
      fail(): void {
        throw new Error('no');
      }
    }
    await start([UNNAMED(), BILLING()], [Failing]);
    await app!.producer.offer('orders', null, 0, { id: 'once' });
    await producerOf('billing').offer('orders', null, 0, { id: 'often' });
    await until(async () => (await app!.producer.find('orders', 'once'))?.state === 'dead');
    await until(async () => (await producerOf('billing').find('orders', 'often'))?.failedAttempts === 1);
    expect(await producerOf('billing').find('orders', 'often')).toMatchObject({ state: 'delayed' });
    await producerOf('billing').clear('orders');
    await app!.producer.clear('orders');
  });

  test.each<[string, DelayQueueModuleOptions]>([
    ['in partitions', { defaults: { partitions: 4 } }],
    ["in Redisson's layout", { defaults: { layout: redisson() } }],
    ['in memory', { store: 'memory' }],
  ])('may have queues %s in one instance and ordinary ones in another', async (_how, options) => {
    await start([UNNAMED(), BILLING(options)], [TwoHandlers]);
    await app!.producer.offer('orders', 'a', 0, { id: 'm' });
    await producerOf('billing').offer('orders', 'b', '1h', { id: 'm' });
    expect(await producerOf('billing').reschedule('orders', 'm', 0)).toBe(true);
    await until(() => handled.length === 2);
    expect(handled.sort()).toEqual(['billing b', 'unnamed a']);
  });

  test('may have a family of the same name in each instance', async () => {
    class Families {
      @DelayedHandler('tenant-*')
      ofNone(_payload: unknown, { queue }: DelayedMessage): void {
        handled.push(`unnamed ${queue}`);
      }

      @DelayedHandler('tenant-*', { instance: 'billing' })
      ofBilling(_payload: unknown, { queue }: DelayedMessage): void {
        handled.push(`billing ${queue}`);
      }
    }
    await start([UNNAMED(), BILLING()], [Families]);
    await app!.producer.offer('tenant-a', null, 0);
    await producerOf('billing').offer('tenant-b', null, 0);
    await until(() => handled.length === 2);
    expect(handled.sort()).toEqual(['billing tenant-b', 'unnamed tenant-a']);
  });

  test('may have two of them on one Redis, where different prefixes keep their messages separate', async () => {
    const imports = [UNNAMED(), BILLING({ ...placeOf(unnamed), prefix: `${unnamed.prefix}:billing` })];
    class OfBilling {
      @DelayedHandler('orders', { instance: 'billing' })
      handle(text: string): void {
        handled.push(text);
      }
    }
    await start(imports, [OfBilling]);
    await app!.producer.offer('orders', 'other', 0);
    await producerOf('billing').offer('orders', 'own', 0);
    await until(() => handled.length === 1);
    expect(await app!.producer.counts('orders')).toMatchObject({ ready: 0, active: 0 });
    expect(handled).toEqual(['own']);
    await app!.producer.clear('orders');
  });

  test('logs the names of its instances', async () => {
    const contexts: string[] = [];
    const remember = (_line: unknown, ...more: unknown[]) => void contexts.push(String(more.at(-1)));
    const logger = { log: remember, warn: remember, error: remember };
    const root = { module: class {}, imports: [UNNAMED(), BILLING(), CACHE()], providers: [Handlers] };
    const context = await NestFactory.createApplicationContext(root, { logger });
    await context.close();
    const ours = [...new Set(contexts)].filter((each) => each.startsWith('DelayQueue') && each !== 'DelayQueueModule');
    expect(ours.sort()).toEqual([
      'DelayQueue',
      'DelayQueue:billing',
      'DelayQueue:cache',
      'DelayQueueRedis',
      'DelayQueueRedis:billing',
    ]);
  });
});

describe('listeners and observers', () => {
  /** The events that they received, as `who: instance event queue`. */
  let reported: string[] = [];
  afterEach(() => void (reported = []));
  const tell = (who: string, { instance, name, ...event }: DelayQueueEvent) => {
    if (name === 'handled') reported.push(`${who}: ${instance} ${'queue' in event && event.queue}`);
  };

  async function handleAll(providers: Provider[], imports = [UNNAMED(), BILLING(), CACHE()]): Promise<void> {
    await start(imports, [Handlers, ...providers]);
    for (const producer of [app!.producer, producerOf('billing'), producerOf('cache')]) {
      await producer.offer('orders', 'x', 0);
    }
    await until(() => handled.length === 3);
    await until(async () => (await producerOf('billing').counts('orders')).active === 0);
  }

  test("receive only the events of the instance given to their method's decorator or set by the queue class", async () => {
    class Orders extends DelayQueue('orders', payload<string>(), { instance: 'cache' }) {}

    @Injectable()
    class Listeners {
      @OnDelayQueueEvent('handled')
      ofNone(event: DelayQueueEvent<'handled'>): void {
        tell('all', event);
      }

      @OnDelayQueueEvent('handled', { instance: 'billing' })
      ofBilling(event: DelayQueueEvent<'handled'>): void {
        tell('all of billing', event);
      }

      @OnDelayQueueEvent('handled', 'orders', { instance: 'billing' })
      @OnDelayQueueEvent('handled', 'others', { instance: 'billing' })
      ofQueue(event: DelayQueueEvent<'handled'>): void {
        tell('orders of billing', event);
      }

      @OnDelayQueueEvent('handled', Orders)
      ofClass(event: DelayQueueEvent<'handled'>): void {
        tell('class of cache', event);
      }
    }
    await handleAll([Listeners]);
    await until(() => reported.length === 4);
    expect(reported.sort()).toEqual([
      'all of billing: billing orders',
      'all: undefined orders',
      'class of cache: cache orders',
      'orders of billing: billing orders',
    ]);
  });

  test("receive the events of each instance named in their class's decorator", async () => {
    @Injectable()
    @DelayQueueListener({ instance: 'billing' })
    @DelayQueueListener()
    class Audit implements DelayQueueObserver {
      event(event: DelayQueueEvent): void {
        tell('audit', event);
      }
    }

    @Injectable()
    @DelayQueueListener({ instance: 'cache' })
    class Derived extends Audit {
      override event(event: DelayQueueEvent): void {
        tell('derived', event);
      }
    }
    await handleAll([Audit, Derived]);
    await until(() => reported.length === 3);
    expect(reported.sort()).toEqual(['audit: billing orders', 'audit: undefined orders', 'derived: cache orders']);
  });

  test('may include an observer that supplies a separate observer per instance', async () => {
    const observerOf = (place: string): DelayQueueObserver => ({
      handle: ({ queue }) => void reported.push(`${place} ${queue}`),
    });
    const observer = { ...observerOf('unnamed'), forInstance: (name: string) => observerOf(`of ${name}`) };
    const observers = [observer];
    await handleAll(
      [],
      [
        DelayQueueModule.forRoot({ ...placeOf(unnamed), observers }),
        BILLING({ observers }),
        DelayQueueModule.forRoot({ name: 'cache', store: 'memory', observers }),
      ],
    );
    expect(reported.sort()).toEqual(['of billing orders', 'of cache orders', 'unnamed orders']);
  });

  test('make startup fail if forInstance() of an observer returns none', async () => {
    class Broken implements DelayQueueObserver {
      forInstance(): DelayQueueObserver {
        return undefined as never;
      }
    }
    expect(await refusal([BILLING({ observers: [new Broken()] })])).toMatchObject({
      code: 'INVALID_OPTION',
      message: 'Broken: forInstance() must return an observer',
    });
  });
});

describe('startup fails', () => {
  test.each<[string, () => Provider, object]>([
    [
      'for a handler of an unknown instance, and the error names the known ones',
      () => {
        class Late {
          @DelayedHandler('orders', { instance: 'biling' })
          handle(): void {}
        }
        return Late;
      },
      {
        code: 'INVALID_HANDLER',
        message:
          "@DelayedHandler on Late.handle: instance: there is no DelayQueueModule.forRoot({ name: 'biling' }), " +
          "only the one without a name, 'billing'",
      },
    ],
    [
      'for a handler of a malformed instance',
      () => {
        class Late {
          @DelayedHandler('orders', 'a', { instance: 'bil ling' })
          handle(): void {}
        }
        return Late;
      },
      {
        code: 'INVALID_OPTION',
        message:
          "@DelayedHandler on Late.handle: instance must be 1–64 of the characters A–Z a–z 0–9 _ -, not 'bil ling'",
      },
    ],
    [
      'for a listener of an unknown instance',
      () => {
        class Late {
          @OnDelayQueueEvent('dead', { instance: 'other' })
          handle(): void {}
        }
        return Late;
      },
      { code: 'INVALID_LISTENER', message: expect.stringContaining("only the one without a name, 'billing'") },
    ],
    [
      'for an observer of an unknown instance, even if it also has a known one',
      () => {
        @DelayQueueListener({ instance: 'other' })
        @DelayQueueListener()
        class Audit {
          event(): void {}
        }
        return Audit;
      },
      {
        code: 'INVALID_LISTENER',
        message: expect.stringContaining('@DelayQueueListener() on Audit: instance: there is no'),
      },
    ],
    [
      'for an unknown option of a listener',
      () => {
        class Late {
          @OnDelayQueueEvent('dead', { instanse: 'billing' } as object)
          handle(): void {}
        }
        return Late;
      },
      { code: 'INVALID_OPTION', message: expect.stringContaining('instanse is not an option') },
    ],
    [
      'for a handler of a typed queue that names an instance',
      () => {
        class Orders extends DelayQueue('orders', payload<string>(), { instance: 'billing' }) {}
        class Late {
          @DelayedHandler(Orders, { instance: 'billing' } as object)
          handle(): void {}
        }
        return Late;
      },
      { code: 'INVALID_OPTION', message: expect.stringContaining('set it in the options of DelayQueue()') },
    ],
    [
      'for a listener of a typed queue that names an instance',
      () => {
        class Orders extends DelayQueue('orders', payload<string>()) {}
        class Late {
          @OnDelayQueueEvent('dead', Orders, { instance: 'billing' })
          handle(): void {}
        }
        return Late;
      },
      { code: 'INVALID_OPTION', message: expect.stringContaining('set it in the options of DelayQueue()') },
    ],
    [
      'for a handler of a typed queue of an unknown instance',
      () => {
        class Orders extends DelayQueue('orders', payload<string>(), { instance: 'other' }) {}
        class Late {
          @DelayedHandler(Orders)
          handle(): void {}
        }
        return Late;
      },
      { code: 'INVALID_HANDLER', message: expect.stringContaining("{ name: 'other' }), only the one") },
    ],
  ])('%s', async (_what, provider, error) => {
    expect(await refusal([UNNAMED(), BILLING()], [provider()])).toMatchObject(error);
  });

  test('for a handler that names no instance when all instances have names', async () => {
    class Orders {
      @DelayedHandler('orders')
      handle(): void {}
    }
    expect(await refusal([BILLING(), CACHE()], [Orders])).toMatchObject({
      code: 'INVALID_HANDLER',
      message:
        '@DelayedHandler on Orders.handle: instance: each DelayQueueModule.forRoot() has a name, so one of them must be given: ' +
        "'billing', 'cache'",
    });
  });

  test('for two instances with the same name, and the error names both places', async () => {
    @Module({ imports: [BILLING({ prefix: 'other' })] })
    class OrdersModule {}
    @Module({ imports: [BILLING(), UNNAMED(), OrdersModule] })
    class AppModule {}
    await expect(startRoot(AppModule)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(
        "DelayQueueModule.forRoot({ name: 'billing' }) is imported more than once (by AppModule, OrdersModule): call it once, or give " +
          'each a name of its own',
      ),
    });
  });

  test.each([
    ['the same URL', {}, {}],
    ['the default connection', { connection: undefined, prefix: 'p' }, { connection: undefined, prefix: 'p' }],
    ['equal options', { connection: { host: 'a', port: 1 } }, { connection: { host: 'a', port: 1 } }],
  ])('for two instances with %s and the same prefix, before anything connects', async (_what, one, other) => {
    const imports = [
      DelayQueueModule.forRoot({ ...placeOf(unnamed), ...one }),
      DelayQueueModule.forRoot({ name: 'billing', ...placeOf(unnamed), ...other }),
    ];
    expect(await refusal(imports)).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining("the same connection and prefix (the one without a name, 'billing')"),
    });
  });

  test.each([[''], ['a b'], ['a:b'], ['ä'], ['x'.repeat(65)], [7], [null], [{}], [Symbol('s')]])(
    'at once for the invalid name %p',
    (name) => {
      const message = expect.stringContaining('must be 1–64 of the characters A–Z a–z 0–9 _ -, not ');
      const refused = expect.objectContaining({ code: 'INVALID_OPTION', message });
      const given = name as string;
      expect(() => DelayQueueModule.forRoot({ name: given })).toThrow(refused);
      expect(() => DelayQueueModule.forRootAsync({ name: given, useFactory: () => ({}) })).toThrow(refused);
      expect(() => InjectDelayQueueProducer(given)).toThrow(refused);
      expect(() => getDelayQueueProducerToken(given)).toThrow(refused);
      expect(() => DelayQueue('orders', payload<string>(), { instance: given })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      );
    },
  );

  test('if a factory returns the name, which belongs next to the factory', async () => {
    const useFactory = () => ({ name: 'billing', store: 'memory' as const });
    expect(await refusal([DelayQueueModule.forRootAsync({ useFactory: useFactory as () => object })])).toMatchObject({
      code: 'INVALID_OPTION',
      message:
        'DelayQueueModule options: name is not an option; it names an instance: give it to forRoot(), or to forRootAsync() beside useFactory',
    });
  });
});
