import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type CanActivate, Injectable, mixin, type Provider, Scope, type Type, UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DelayedHandler,
  DelayQueueListener,
  type DelayQueueModuleOptions,
  type DelayQueueObserver,
  DelayQueueProducer,
  OnDelayQueueEvent,
} from '../../lib/index.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { appModule } from '../support/tested-app.js';
import { until } from '../support/until.js';

const MEMORY: DelayQueueModuleOptions = { store: 'memory' };

/** The calls of a test, in order. */
let seen: string[] = [];
const see = (text: string) => void seen.push(text);

/** Replaces the method with a function of its own, as `@Transactional()` and the like do. */
const Wrapped =
  (name = 'wrapped'): MethodDecorator =>
  (_target, _property, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...args: unknown[]): unknown {
      see(name);
      return method.apply(this, args);
    };
  };

/** A class decorator that wraps all methods, as those for traces do. */
const AllWrapped: ClassDecorator = (target) => {
  const prototype = target.prototype as object;
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor') continue;
    Wrapped('all')(prototype, name, descriptor);
    Object.defineProperty(prototype, name, descriptor);
  }
};

/** A class decorator that replaces the class with another. */
const Extended = <T extends Type<{ handle(payload: string): unknown }>>(target: T): T => {
  const base: Type<{ handle(payload: string): unknown }> = target;
  class Extension extends base {
    override handle(payload: string): unknown {
      see('extended');
      return super.handle(payload);
    }
  }
  return Extension as T;
};

const Bound: MethodDecorator = (_target, _property, descriptor: PropertyDescriptor) => {
  const method = descriptor.value as (...args: unknown[]) => unknown;
  return {
    configurable: true,
    get(this: object) {
      return method.bind(this);
    },
  } as never;
};

describe('a decorated method', () => {
  let app: TestApp | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
    seen = [];
  });

  /** Handles a message in an application with these providers and returns the recorded calls. */
  async function handle(...providers: Provider[]): Promise<string[]> {
    app = await startTestApp(MEMORY, { providers });
    await app.producer.offer('orders', 'one', 0);
    await until(async () => Object.values(await app!.producer.counts('orders')).every((count) => count === 0));
    return seen;
  }

  const failureOf = (...providers: Provider[]): Promise<unknown> =>
    startTestApp(MEMORY, { providers }).then(
      (started) => ((app = started), 'it started'),
      (error: unknown) => error,
    );

  const refusal = (code: string, text: string) => ({ code, message: expect.stringContaining(text) });

  class Base {
    @DelayedHandler('orders')
    handle(payload: string): unknown {
      return see(`base ${payload}`);
    }
  }

  @Injectable()
  class WrappedMethod {
    @Wrapped()
    @DelayedHandler('orders')
    handle(payload: string): void {
      see(payload);
    }
  }

  @AllWrapped
  @Injectable()
  class WrappedClass {
    @DelayedHandler('orders')
    handle(payload: string): void {
      see(payload);
    }
  }

  @Extended
  @Injectable()
  class ExtendedClass {
    @DelayedHandler('orders')
    handle(payload: string): void {
      see(payload);
    }
  }

  @Injectable()
  class Overriding extends Base {
    override handle(payload: string): unknown {
      see('override');
      return super.handle(payload);
    }
  }

  abstract class Template {
    @DelayedHandler('orders')
    handle(_payload: string): unknown {
      throw new Error('not implemented');
    }
  }

  @Injectable()
  class Implementation extends Template {
    override handle(payload: string): unknown {
      return see(payload);
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class PerMessage extends Base {
    override handle(payload: string): unknown {
      return see(`per message ${payload}`);
    }
  }

  const audited = (name: string) => {
    class Audited extends Base {
      override handle(payload: string): unknown {
        see(name);
        return super.handle(payload);
      }
    }
    return mixin(Audited);
  };

  const named = Symbol('handle');

  @Injectable()
  class BySymbol {
    @DelayedHandler('orders')
    [named](payload: string): void {
      see(payload);
    }
  }

  test.each<[string, Provider, string[]]>([
    ['is wrapped by a decorator above it', WrappedMethod, ['wrapped', 'one']],
    ['is wrapped by a class decorator', WrappedClass, ['all', 'one']],
    ['is overridden by a class that replaces it', ExtendedClass, ['extended', 'one']],
    ['is overridden', Overriding, ['override', 'base one']],
    ['overrides a method of an abstract class', Implementation, ['one']],
    ['is overridden in a class with a scope', PerMessage, ['per message one']],
    ['is overridden by a mixin', audited('mixin'), ['mixin', 'base one']],
    ['has a symbol as its name', BySymbol, ['one']],
    [
      'belongs to a class that a factory creates for each message',
      { provide: Base, useFactory: () => new Base(), scope: Scope.REQUEST },
      ['base one'],
    ],
  ])('still handles messages if it %s', async (_what, provider, expected) => {
    expect(await handle(provider)).toEqual(expected);
  });

  test('is called through a spy that is installed before startup', async () => {
    class Spied extends Base {}
    const spy = jest.spyOn(Spied.prototype, 'handle');
    expect(await handle(Spied)).toEqual(['base one']);
    expect(spy).toHaveBeenCalledTimes(1);
  });

  test('handles the queues of the decorators above and below its wrapper', async () => {
    @Injectable()
    class Both {
      @DelayedHandler('emails')
      @Wrapped()
      @DelayedHandler('orders')
      handle(payload: string): void {
        see(payload);
      }
    }
    await handle(Both);
    expect(app!.log.filter((line) => line.includes('Handling queue'))).toHaveLength(2);
  });

  test('handles only the queues of its own decorators if it overrides a decorated method', async () => {
    @Injectable()
    class Moved extends Base {
      @DelayedHandler('emails')
      override handle(payload: string): unknown {
        return see(payload);
      }
    }
    app = await startTestApp(MEMORY, { providers: [Moved] });
    expect(app.log.filter((line) => line.includes('Handling queue'))).toEqual([expect.stringContaining('emails')]);
  });

  test('is found on the class that it was copied to', async () => {
    @Injectable()
    class Copy {}
    Object.defineProperties(Copy.prototype, { handle: Object.getOwnPropertyDescriptor(Base.prototype, 'handle')! });
    expect(await handle(Copy)).toEqual(['base one']);
  });

  test('is ignored by an application that does not provide its class', async () => {
    class Elsewhere {
      @Bound
      @DelayedHandler('orders')
      handle(): void {}
    }
    app = await startTestApp(MEMORY, { providers: [{ provide: Elsewhere, useValue: {} }] });
    expect(app.log.filter((line) => line.includes('Handling queue'))).toEqual([]);
  });

  test('is called on the class that a test uses to override its provider', async () => {
    const module = await Test.createTestingModule({
      imports: [appModule({ options: MEMORY, providers: [Overriding] })],
    })
      .overrideProvider(Overriding)
      .useClass(Implementation)
      .setLogger({ log: () => undefined, warn: () => undefined, error: () => undefined })
      .compile();
    await module.init();
    await module.get(DelayQueueProducer).offer('orders', 'one', 0);
    await until(() => seen.length > 0);
    await module.close();
    expect(seen).toEqual(['one']);
  });

  @Injectable()
  class Allowed implements CanActivate {
    canActivate(): boolean {
      return true;
    }
  }

  const HIDDEN =
    'what has replaced the method, a decorator above it or an override, hides what else is declared about it';

  test('makes startup fail if its wrapper hides its guards', async () => {
    @Injectable()
    class Guarded {
      @Wrapped()
      @UseGuards(Allowed)
      @DelayedHandler('orders')
      handle(): void {}
    }
    expect(await failureOf(Guarded)).toMatchObject(
      refusal('INVALID_HANDLER', `@DelayedHandler on Guarded.handle: ${HIDDEN} (__guards__)`),
    );
  });

  test('makes startup fail if it overrides a guarded method without guards', async () => {
    class GuardedBase {
      @UseGuards(Allowed)
      @DelayedHandler('orders')
      handle(): void {}
    }
    @Injectable()
    class Unguarded extends GuardedBase {
      override handle(): void {}
    }
    expect(await failureOf(Unguarded)).toMatchObject(
      refusal('INVALID_HANDLER', `@DelayedHandler on Unguarded.handle: ${HIDDEN} (__guards__)`),
    );
  });

  test('makes startup fail if a decorator has turned it into an accessor', async () => {
    @Injectable()
    class Accessor {
      @Bound
      @DelayedHandler('orders')
      handle(): void {}
    }
    expect(await failureOf(Accessor)).toMatchObject(
      refusal('INVALID_HANDLER', '@DelayedHandler on Accessor.handle: there is an accessor instead of the method'),
    );
  });

  test('makes startup fail if it no longer exists', async () => {
    @Injectable()
    class Gone {
      @DelayedHandler('orders')
      handle(): void {}
    }
    delete (Gone.prototype as Partial<Gone>).handle;
    expect(await failureOf(Gone)).toMatchObject(
      refusal('INVALID_HANDLER', '@DelayedHandler on Gone.handle: there is no longer a method in its place'),
    );
  });

  describe('as a listener', () => {
    class BaseAlarm {
      @OnDelayQueueEvent('handled')
      tell(): unknown {
        return see('base');
      }
    }

    @Injectable()
    class WrappedAlarm {
      @Wrapped()
      @OnDelayQueueEvent('handled')
      tell(): void {
        see('told');
      }
    }

    @AllWrapped
    @Injectable()
    class AllWrappedAlarm {
      @OnDelayQueueEvent('handled')
      tell(): void {
        see('told');
      }
    }

    @Injectable()
    class OverridingAlarm extends BaseAlarm {
      override tell(): unknown {
        return see('override');
      }
    }

    @DelayQueueListener()
    class Observer implements DelayQueueObserver {
      offer(_offers: unknown, next: () => Promise<unknown>): unknown {
        see('observed');
        return next();
      }
    }

    @Injectable()
    class ExtendedObserver extends Observer {}

    test.each<[string, Type, string[]]>([
      ['wrapped by a decorator above it', WrappedAlarm, ['wrapped', 'told']],
      ['wrapped by a class decorator', AllWrappedAlarm, ['all', 'told']],
      ['an override', OverridingAlarm, ['override']],
      ['inherited from an observer', ExtendedObserver, ['observed']],
    ])('is called if it is %s', async (_what, provider, expected) => {
      expect(
        await handle(
          provider,
          handlerOf('orders', () => undefined),
        ),
      ).toEqual(expected);
    });

    test('makes startup fail if a decorator has turned it into an accessor', async () => {
      @Injectable()
      class Alarm {
        @Bound
        @OnDelayQueueEvent('handled')
        tell(): void {}
      }
      expect(await failureOf(Alarm)).toMatchObject(
        refusal('INVALID_LISTENER', '@OnDelayQueueEvent on Alarm.tell: there is an accessor instead of the method'),
      );
    });
  });
});
