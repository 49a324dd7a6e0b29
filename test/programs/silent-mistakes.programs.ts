import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Inject, Injectable, Module, type Type } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { runInThisContext } from 'node:vm';
import {
  DelayedHandler,
  type DelayQueueError,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  OnDelayQueueEvent,
} from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startRoot, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const MEMORY: DelayQueueModuleOptions = { store: 'memory' };

describe('the check for silent mistakes', () => {
  test('refuses a handler on a static method', () => {
    expect(() => {
      class Handlers {
        @DelayedHandler('orders')
        static handle(): void {}
      }
      return Handlers;
    }).toThrow(
      expect.objectContaining({
        code: 'INVALID_HANDLER',
        message:
          '@DelayedHandler on Handlers.handle: a static method is never called: remove static, and provide the class',
      }),
    );
  });

  test('refuses a handler on a property', () => {
    const decorate = DelayedHandler('orders') as PropertyDecorator;
    expect(() => {
      class Handlers {
        @decorate
        handle = () => undefined;
      }
      return Handlers;
    }).toThrow(
      expect.objectContaining({
        code: 'INVALID_HANDLER',
        message:
          '@DelayedHandler on Handlers.handle: it is a property or an accessor, which is never called: write a method, handle() { … }',
      }),
    );
  });

  test('refuses a listener on a static method', () => {
    expect(() => {
      class Listeners {
        @OnDelayQueueEvent('dead')
        static tell(): void {}
      }
      return Listeners;
    }).toThrow(
      expect.objectContaining({
        code: 'INVALID_LISTENER',
        message:
          '@OnDelayQueueEvent on Listeners.tell: a static method is never called: remove static, and provide the class',
      }),
    );
  });

  test('refuses an import of the module without options', async () => {
    await expect(startRoot({ module: class {}, imports: [DelayQueueModule] })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('DelayQueueModule has no options: import DelayQueueModule.forRoot({ … })'),
    });
  });

  describe('for a class with constructor parameters', () => {
    class Shop {}
    const declareHandler = (type: Type) =>
      DelayedHandler('orders')(
        type.prototype as object,
        'handle',
        Object.getOwnPropertyDescriptor(type.prototype, 'handle')!,
      );

    // Decorated by hand: with a decorator in its body, the compiler tells what the constructor needs.
    class Undecorated {
      constructor(readonly shop: Shop) {}
      handle(): void {}
    }
    declareHandler(Undecorated);

    @Injectable()
    class Decorated {
      constructor(readonly shop: Shop) {}
      @DelayedHandler('emails')
      handle(): void {}
    }

    test('refuses the class if it has no decorator', async () => {
      await expect(startTestApp(MEMORY, { providers: [Shop, Undecorated] })).rejects.toMatchObject({
        code: 'INVALID_HANDLER',
        message: expect.stringContaining(
          '@DelayedHandler on Undecorated.handle: the constructor of Undecorated takes arguments',
        ),
      });
    });

    /** Says whether the start was refused, and why. */
    const start = (provider: Type): Promise<string> =>
      startTestApp(MEMORY, { providers: [Shop, provider] }).then(
        async (app) => (await app.close(), 'it started'),
        (error: DelayQueueError) => `${error.code}: ${error.message}`,
      );

    class UndecoratedBase {
      constructor(protected readonly shop: Shop) {}
    }

    class UndecoratedPrivateBase {
      readonly #shop: Shop;
      constructor(shop: Shop) {
        this.#shop = shop;
      }
      get shop(): Shop {
        return this.#shop;
      }
    }

    class UndecoratedBaseWithDollar {
      readonly shop: Shop;
      constructor($shop: Shop) {
        this.shop = $shop;
      }
    }

    @Injectable()
    class InheritsConstructor extends UndecoratedBase {
      @DelayedHandler('emails')
      handle(): void {}
    }

    @Injectable()
    class InheritsPrivate extends UndecoratedPrivateBase {
      @DelayedHandler('emails')
      handle(): void {}
    }

    @Injectable()
    class InheritsDollar extends UndecoratedBaseWithDollar {
      @DelayedHandler('emails')
      handle(): void {}
    }

    class Between extends UndecoratedBase {
      again(): object {
        return new (this.constructor as Type<object>)();
      }
    }

    @Injectable()
    class InheritsTwice extends Between {
      @OnDelayQueueEvent('dead')
      tell(): void {}
    }

    /** As compilers write it for a target without fields of classes. */
    const compiledFrom = (source: string) => {
      const type = (runInThisContext(`(Base) => ${source}`) as (base: Type) => Type)(UndecoratedBase);
      declareHandler(type);
      return type;
    };

    test.each([
      [
        'TypeScript',
        'class Compiled extends Base { constructor() { super(...arguments); this.calls = []; } handle() {} }',
      ],
      ['swc', 'class Compiled extends Base { handle() {} constructor(...args) { super(...args), this.calls = []; } }'],
    ])('refuses an inherited constructor in a class with fields compiled by %s', async (_by, source) => {
      expect(await start(compiledFrom(source))).toContain('Compiled has no constructor, and that of UndecoratedBase');
    });

    test.each<[string, Type, string]>([
      [
        'a base without a decorator',
        InheritsConstructor,
        'INVALID_HANDLER: @DelayedHandler on InheritsConstructor.handle: InheritsConstructor has no constructor, and that of UndecoratedBase',
      ],
      [
        'a base without a decorator and with private fields',
        InheritsPrivate,
        'INVALID_HANDLER: @DelayedHandler on InheritsPrivate.handle: InheritsPrivate has no constructor, and that of UndecoratedPrivateBase',
      ],
      [
        'a base without a decorator whose parameter has a $ in its name',
        InheritsDollar,
        'INVALID_HANDLER: @DelayedHandler on InheritsDollar.handle: InheritsDollar has no constructor, and that of UndecoratedBaseWithDollar',
      ],
      [
        'the base of a base',
        InheritsTwice,
        'INVALID_LISTENER: @OnDelayQueueEvent on InheritsTwice.tell: InheritsTwice has no constructor, and that of UndecoratedBase',
      ],
    ])('refuses a constructor inherited from %s', async (_what, provider, refusal) => {
      expect(await start(provider)).toContain(refusal);
    });

    @Injectable()
    class Decided extends UndecoratedBase {
      constructor() {
        super(new Shop());
      }
      @DelayedHandler('emails')
      handle(): void {}
    }

    @Injectable()
    class Emits extends EventEmitter {
      @DelayedHandler('emails')
      handle(): void {}
    }

    @Injectable()
    class DecoratedBase {
      constructor(readonly shop: Shop) {}
    }

    @Injectable()
    class InheritsDecorated extends DecoratedBase {
      @DelayedHandler('emails')
      handle(): void {}
    }

    @Injectable()
    class Filled extends UndecoratedBase {
      @Inject(Shop) protected override readonly shop = undefined as never as Shop;
      @DelayedHandler('emails')
      handle(): void {}
    }

    test.each<[string, Type]>([
      ['that passes the parameter on from its own constructor', Decided],
      ['whose library base class works without parameters', Emits],
      ['whose base is decorated', InheritsDecorated],
      ['with property injection', Filled],
    ])('accepts a class %s', async (_what, provider) => {
      expect(await start(provider)).toBe('it started');
    });

    test('accepts the class if it is decorated or created by a factory', async () => {
      const made = { provide: Undecorated, useFactory: () => new Undecorated(new Shop()) };
      const app = await startTestApp(MEMORY, { providers: [Shop, Decorated, made] });
      expect(app.log.filter((line) => line.startsWith('log Handling'))).toHaveLength(2);
      await app.close();
    });
  });
});

describe('a class with a handler that is provided twice', () => {
  @Injectable()
  class Timeouts {
    @DelayedHandler('orders')
    handle(): void {}
  }

  const refusal = (text: string) => ({ code: 'INVALID_HANDLER', message: expect.stringContaining(text) });

  test('by two modules makes startup fail with an error that names both', async () => {
    @Module({ providers: [Timeouts] })
    class OrdersModule {}
    @Module({ providers: [Timeouts] })
    class BillingModule {}
    await expect(startTestApp(MEMORY, { imports: [OrdersModule, BillingModule] })).rejects.toMatchObject(
      refusal(
        "Queue 'orders' has two handlers, Timeouts.handle and Timeouts.handle, of OrdersModule and of BillingModule: provide the class in one",
      ),
    );
  });

  test('by one module under two tokens makes startup fail with an error that names the module', async () => {
    const providers = [Timeouts, { provide: 'timeouts', useClass: Timeouts }];
    await expect(startTestApp(MEMORY, { providers })).rejects.toMatchObject(
      refusal(
        'Timeouts.handle and Timeouts.handle, of RootModule: provide the class once there (useExisting makes an alias)',
      ),
    );
  });
});

describe('an entry in `queues` that matches no queue of the process', () => {
  const scene = new Scene();
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  const start = async (queues: DelayQueueModuleOptions['queues'], ...names: string[]) => {
    const providers = names.map((name) => handlerOf(name, () => undefined));
    app = await startTestApp({ connection: scene.url, prefix: scene.prefix, queues }, { providers });
    return app;
  };
  const warnings = ({ log }: TestApp) => log.filter((line) => line.includes('misspelt'));
  const warning = (entry: string, meant: string) =>
    `warn queues.${entry}: this process uses no such queue, but it uses '${meant}', which has no entry: is the name misspelt? ` +
    `The options do not apply to '${meant}'`;

  test.each([
    ['ordres', 'orders', ['orders', 'emails']],
    ['oders', 'orders', ['orders', 'emails']],
    ['orderss', 'orders', ['orders', 'emails']],
    ['order-timeout', 'orders-timeouts', ['orders-timeouts']],
    ['ordes', 'orders', ['borderers', 'orders']],
  ])('causes a warning at startup that names the intended queue: %s', async (entry, meant, names) => {
    expect(warnings(await start({ [entry]: { concurrency: 2 } }, ...names))).toEqual([warning(entry, meant)]);
  });

  test('causes one warning, which names a queue that gets offers', async () => {
    const { producer, ...started } = await start({ ordres: {}, emails: {} });
    for (const queue of ['emails', 'invoices', 'orders', 'order']) await producer.offer(queue, 1, '1h');
    await until(() => warnings({ producer, ...started }).length > 0);
    await producer.offer('oders', 1, '1h');
    expect(warnings({ producer, ...started })).toEqual([warning('ordres', 'orders')]);
  });

  test.each<[string, DelayQueueModuleOptions['queues'], string[]]>([
    ['if no name is similar', { invoices: {} }, ['orders']],
    ['if the similar name has an entry', { shop1: {}, shop2: {} }, ['shop1']],
    ['for a sibling with another number', { 'tenant-1': {} }, ['tenant-2']],
    ['for a queue of a family', { 'shop-1': {} }, ['shop-*', 'shop-2']],
  ])('does not cause a warning %s', async (_what, queues, names) => {
    expect(warnings(await start(queues, ...names))).toEqual([]);
  });
});

describe('a process without a listener for SIGTERM', () => {
  /** The listeners of the test runner. */
  let others: NodeJS.SignalsListener[];
  beforeEach(() => {
    others = process.listeners('SIGTERM');
    process.removeAllListeners('SIGTERM');
  });
  afterEach(() => {
    for (const listener of others) process.on('SIGTERM', listener);
  });

  const isHint = (line: string) => line.startsWith('warn Nothing listens for SIGTERM');

  test('is warned because of an application with handlers, but not because of one that only offers', async () => {
    const parts = { providers: [handlerOf('orders', () => undefined)] };
    const apps = await Promise.all([startTestApp(MEMORY, parts), startTestApp(MEMORY)]);
    // Nest has one logger for all applications of a process.
    const hints = () => apps.flatMap(({ log }) => log.filter(isHint));
    await until(() => hints().length > 0, { within: 20_000 });
    expect(hints()).toHaveLength(1);
    await Promise.all(apps.map((each) => each.close()));
  });
});
