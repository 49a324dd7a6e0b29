import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, jest, test } from '@jest/globals';
import {
  type ArgumentMetadata,
  BadRequestException,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  NotFoundException,
  ParseIntPipe,
  Query,
  Scope,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import { IsString } from 'class-validator';
import { EMPTY, from, map, type Observable, tap } from 'rxjs';
import {
  again,
  DeferMessage,
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  DelayQueueProducer,
  type OfferOptions,
  RejectMessage,
} from '../../lib/index.js';
import { HandlerRegistry } from '../../lib/handler/handler-registry.js';
import { WITH_PACKAGES } from '../smoke/expected.js';
import { runProgram } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import type { TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

const ONCE = { attempts: 1 };
const AT_ONCE = { attempts: 2, backoff: { type: 'fixed', delay: 0 } } as const;

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('a handler on %s', (_, module) => {
  const scene = new Scene();

  /** Starts an application with a handler class, handles one message, and waits until it is settled. */
  async function handle(
    define: (queue: string) => Type,
    more: TestAppParts & { payload?: object; offer?: OfferOptions; inheritAppConfig?: boolean } = {},
  ) {
    const { payload = { orderId: 'o-1' }, offer, inheritAppConfig, ...parts } = more;
    const queue = scene.newQueue();
    const Handlers = define(queue);
    const isController = Reflect.hasMetadata('path', Handlers);
    const app = await scene.startApp({
      ...parts,
      module: { ...module, inheritAppConfig },
      ...(isController ? { controllers: [Handlers] } : { providers: [Handlers, ...(parts.providers ?? [])] }),
    });
    const logged: string[] = [];
    const record = (...words: unknown[]) => void logged.push(words.map(String).join(' '));
    app.context.useLogger({ log: record, warn: record, error: record });
    await app.producer.offer(queue, payload, 0, { id: 'm1', ...offer });
    const settled = async () => {
      const message = await app.producer.find(queue, 'm1');
      return !message || message.state === 'dead' || message.dueAt.getTime() > Date.now() + 60_000;
    };
    await until(settled);
    const { messages: letters } = await app.producer.deadLetters(queue).list();
    return { ...app, queue, logged, dead: letters.map(({ error }) => error.name) };
  }

  describe('with enhancers', () => {
    const seen: unknown[] = [];

    /** An enhancer of every kind that records its name. */
    function telling(name: string) {
      @Injectable()
      class Telling {
        canActivate(): boolean {
          seen.push(`${name} guard`);
          return true;
        }
        intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
          seen.push(`${name} before`);
          return next.handle().pipe(tap(() => seen.push(`${name} after`)));
        }
        transform(value: unknown): unknown {
          seen.push(`${name} pipe`);
          return value;
        }
      }
      return Telling;
    }

    test("runs after the guards, interceptors and pipes of the application, class and method, in Nest's order", async () => {
      seen.length = 0;
      const [OfClass, OfMethod, useClass] = [telling('class'), telling('method'), telling('app')];
      const define = (queue: string) => {
        @Injectable()
        @UseGuards(OfClass)
        @UseInterceptors(OfClass)
        @UsePipes(OfClass)
        class Handlers {
          @DelayedHandler(queue)
          @UseGuards(OfMethod)
          @UseInterceptors(OfMethod)
          @UsePipes(OfMethod)
          handle(): void {
            seen.push('handler');
          }
        }
        return Handlers;
      };
      const providers = [APP_GUARD, APP_INTERCEPTOR, APP_PIPE].map((provide) => ({ provide, useClass }));
      await handle(define, { inheritAppConfig: true, providers });
      expect(seen).toEqual([
        ...['app guard', 'class guard', 'method guard', 'app before', 'class before', 'method before'],
        ...['app pipe', 'class pipe', 'method pipe', 'handler', 'method after', 'class after', 'app after'],
      ]);
    });

    test.each([
      ['DEFAULT', Scope.DEFAULT],
      ['TRANSIENT', Scope.TRANSIENT],
    ])('has dependencies injected into its enhancers of scope %s', async (_scope, scope) => {
      @Injectable()
      class Shop {
        readonly isOpen = true;
      }
      @Injectable({ scope })
      class ShopIsOpen implements CanActivate {
        constructor(private readonly shop: Shop) {}
        canActivate(): boolean {
          return this.shop.isOpen;
        }
      }
      const handled = jest.fn();
      await handle(
        (queue) => {
          @Injectable()
          class Handlers {
            @DelayedHandler(queue)
            @UseGuards(ShopIsOpen)
            handle(): void {
              handled();
            }
          }
          return Handlers;
        },
        { providers: [Shop] },
      );
      expect(handled).toHaveBeenCalledTimes(1);
    });

    test('is visible to its enhancers, as are the payload and the message', async () => {
      let context: ExecutionContext | undefined;
      let handlers: Type | undefined;
      let given: unknown[] = [];
      await handle((queue) => {
        @Injectable()
        class Handlers {
          @DelayedHandler(queue)
          @UseGuards({ canActivate: (each: ExecutionContext) => ((context = each), true) })
          handle(...args: unknown[]): void {
            given = args;
          }
        }
        return (handlers = Handlers);
      });
      const [payload, message] = given as [unknown, DelayedMessage];
      expect(payload).toEqual({ orderId: 'o-1' });
      expect(message.id).toBe('m1');
      expect(context!.getType()).toBe('delay-queue');
      expect(context!.getClass()).toBe(handlers);
      expect(context!.getHandler()).toBe((handlers!.prototype as { handle: unknown }).handle);
      expect([context!.getArgByIndex(0), context!.getArgByIndex(1)]).toEqual([payload, message]);
      expect(context!.switchToRpc().getData()).toBe(payload);
      expect(context!.switchToRpc().getContext()).toBe(message);
    });

    @Injectable()
    class Deny implements CanActivate {
      canActivate(): boolean {
        return false;
      }
    }

    test.each(['a provider', 'a controller'])(
      'is not called when a guard of its class, %s, denies access',
      async (kind) => {
        const handled = jest.fn();
        const { dead, logged } = await handle((queue) => {
          @(kind === 'a controller' ? Controller() : Injectable())
          @UseGuards(Deny)
          class Handlers {
            @DelayedHandler(queue, ONCE)
            handle(): void {
              handled();
            }
          }
          return Handlers;
        });
        expect(handled).not.toHaveBeenCalled();
        expect(dead).toEqual(['ForbiddenException']);
        // Only the library logs it, not Nest.
        expect(logged).toHaveLength(1);
      },
    );

    test('is retried when a guard has denied access', async () => {
      const attempts: number[] = [];
      await handle((queue) => {
        @Injectable()
        class Handlers {
          @DelayedHandler(queue, AT_ONCE)
          @UseGuards({
            canActivate: (context: ExecutionContext) => context.getArgByIndex<DelayedMessage>(1).attempt > 1,
          })
          handle(_: unknown, { attempt }: DelayedMessage): void {
            attempts.push(attempt);
          }
        }
        return Handlers;
      });
      await until(() => attempts.length > 0);
      expect(attempts).toEqual([2]);
    });

    test("for one type does not run the enhancers of its queue's handler for other types", async () => {
      const types: string[] = [];
      const { dead } = await handle(
        (queue) => {
          @Injectable()
          class Handlers {
            @DelayedHandler(queue)
            @UseGuards(Deny)
            others(): void {}
            @DelayedHandler(queue, 'pay')
            pay(_: unknown, { type }: DelayedMessage): void {
              types.push(type);
            }
          }
          return Handlers;
        },
        { offer: { type: 'pay' } },
      );
      expect(types).toEqual(['pay']);
      expect(dead).toEqual([]);
    });

    test('can be replaced by a spy, which is called only if the guard admits the message', async () => {
      const queue = scene.newQueue();
      let isAdmitted = true;
      @Injectable()
      class Handlers {
        @DelayedHandler(queue, ONCE)
        @UseGuards({ canActivate: () => isAdmitted })
        handle(): void {}
      }
      const { context, producer } = await scene.startApp({ module, providers: [Handlers] });
      const spy = jest.spyOn(context.get(Handlers), 'handle');
      await producer.offer(queue, 1, 0);
      await until(() => spy.mock.calls.length === 1);
      isAdmitted = false;
      await producer.offer(queue, 2, 0);
      await until(async () => (await producer.counts(queue)).dead === 1);
      expect(spy).toHaveBeenCalledTimes(1);
    });
  });

  describe('with pipes or decorated parameters', () => {
    class OrderDto {
      @IsString()
      readonly orderId!: string;
    }

    function validated(seen: unknown[]) {
      return (queue: string) => {
        @Injectable()
        class Handlers {
          @DelayedHandler(queue, ONCE)
          @UsePipes(new ValidationPipe({ transform: true }))
          handle(payload: OrderDto, message: DelayedMessage): void {
            seen.push(payload, message);
          }
        }
        return Handlers;
      };
    }

    test('gets its payload as the DTO created by a ValidationPipe, and its message unchanged', async () => {
      const seen: unknown[] = [];
      await handle(validated(seen));
      expect(seen[0]).toBeInstanceOf(OrderDto);
      expect(seen[1]).toMatchObject({ id: 'm1', payload: { orderId: 'o-1' } });
      expect((seen[1] as DelayedMessage).payload).not.toBeInstanceOf(OrderDto);
    });

    test('is not called with an invalid payload', async () => {
      const seen: unknown[] = [];
      const { dead } = await handle(validated(seen), { payload: { orderId: 3 } });
      expect(dead).toEqual(['BadRequestException']);
      expect(seen).toEqual([]);
    });

    const Tenant = createParamDecorator((header: string, context: ExecutionContext) => {
      if (context.getType<string>() !== 'delay-queue') return 'no message';
      return Promise.resolve(context.getArgByIndex<DelayedMessage>(1).headers[header]);
    });

    test('applies its pipes to the payload and to decorated parameters, but never to the message', async () => {
      const seen: unknown[] = [];
      const piped: ArgumentMetadata[] = [];
      const pipe = {
        transform(value: unknown, metadata: ArgumentMetadata) {
          piped.push(metadata);
          return value;
        },
      };
      await handle(
        (queue) => {
          @Injectable()
          class Handlers {
            @DelayedHandler(queue)
            @UsePipes(pipe)
            handle(payload: OrderDto, message: DelayedMessage, @Tenant('tenant', ParseIntPipe) tenant: number): void {
              seen.push(payload, message.id, tenant);
            }
          }
          return Handlers;
        },
        { offer: { headers: { tenant: '7' } } },
      );
      expect(seen).toEqual([{ orderId: 'o-1' }, 'm1', 7]);
      expect(piped).toEqual([
        { type: 'body', metatype: OrderDto, data: undefined },
        { type: 'custom', metatype: Number, data: 'tenant' },
      ]);
    });

    test('may get parts of its message through parameter decorators instead of the payload', async () => {
      const seen: unknown[] = [];
      const piped: unknown[] = [];
      const pipe = {
        transform(value: unknown, { type }: ArgumentMetadata) {
          piped.push(`${type} ${String(value)}`);
          return value;
        },
      };
      await handle(
        (queue) => {
          @Injectable()
          class Handlers {
            @DelayedHandler(queue)
            @UsePipes(pipe)
            handle(@Tenant('tenant') tenant: string, message: DelayedMessage, @Body('orderId') orderId: string): void {
              seen.push(tenant, message.id, orderId);
            }
          }
          return Handlers;
        },
        { offer: { headers: { tenant: 't' } } },
      );
      expect(seen).toEqual(['t', 'm1', 'o-1']);
      expect(piped.sort()).toEqual(['body o-1', 'custom t']);
    });

    test('makes startup fail if it asks for part of a request', async () => {
      @Injectable()
      class Timeouts {
        @DelayedHandler('q')
        cancelUnpaid(_: unknown, @Query('page') _page: string): void {}
      }
      await expect(scene.startApp({ module, providers: [Timeouts] })).rejects.toMatchObject({
        code: 'INVALID_HANDLER',
        message: expect.stringMatching(/Timeouts\.cancelUnpaid: parameter 1/),
      });
    });
  });

  describe('with a filter', () => {
    /** A handler that fails, with filters that process its error. */
    function failing(error: Error, ...filters: ((error: Error) => unknown)[]) {
      return (queue: string) => {
        const instances = filters.map((filter) => {
          @Catch(NotFoundException, ForbiddenException)
          class Filter {
            catch = filter;
          }
          return new Filter();
        });
        @Injectable()
        class Handlers {
          @DelayedHandler(queue, { attempts: 3, backoff: { type: 'fixed', delay: 0 } })
          @UseFilters(...instances)
          @UseGuards({ canActivate: () => !(error instanceof ForbiddenException) })
          handle(): void {
            throw error;
          }
        }
        return Handlers;
      };
    }

    test.each<[string, () => unknown]>([
      ['returns nothing', () => undefined],
      ['returns something', () => ({ seen: true })],
      ['finishes later', () => Promise.resolve()],
      ['returns an Observable', () => EMPTY],
    ])('completes the message if the filter %s', async (_case, filter) => {
      const { dead, logged } = await handle(failing(new NotFoundException(), filter));
      expect(dead).toEqual([]);
      expect(logged).toEqual([]);
    });

    test("runs its method's filter instead of its class's", async () => {
      const asked: string[] = [];
      const filter = (name: string) => ({ catch: () => void asked.push(name) });
      await handle((queue) => {
        @Injectable()
        @UseFilters(filter('class'))
        class Handlers {
          @DelayedHandler(queue)
          @UseFilters(filter('method'))
          handle(): void {
            throw new NotFoundException();
          }
        }
        return Handlers;
      });
      expect(asked).toEqual(['method']);
    });

    test('passes guard errors to its filter as well', async () => {
      const filter = jest.fn();
      await handle(failing(new ForbiddenException(), filter));
      expect(filter).toHaveBeenCalledWith(
        expect.objectContaining({ name: 'ForbiddenException', message: 'Forbidden resource' }),
        expect.objectContaining({ contextType: 'delay-queue' }),
      );
    });

    test('leaves a dead letter at once if the filter throws RejectMessage', async () => {
      const reject = jest.fn((error: Error) => {
        throw new RejectMessage(error.message);
      });
      const { dead } = await handle(failing(new NotFoundException('no such order'), reject));
      expect(dead).toEqual(['RejectMessage']);
      expect(reject).toHaveBeenCalledTimes(1);
    });

    test('defers the message if the filter throws DeferMessage', async () => {
      const defer = () => {
        throw new DeferMessage('1h');
      };
      const { producer, queue } = await handle(failing(new NotFoundException(), defer));
      expect(await producer.find(queue, 'm1')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
    });

    test('redelivers the message if the filter returns again()', async () => {
      const { producer, queue } = await handle(failing(new NotFoundException(), () => again('1h')));
      expect(await producer.find(queue, 'm1')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
    });

    test('fails as if it had no filter if its filter does not catch the error, and only the library logs it', async () => {
      const filter = jest.fn();
      const { dead, logged } = await handle(failing(new BadRequestException('no'), filter));
      expect(filter).not.toHaveBeenCalled();
      expect(dead).toEqual(['BadRequestException']);
      expect(logged).toHaveLength(3);
      expect(logged.every((line) => line.endsWith('DelayQueue'))).toBe(true);
    });
  });

  describe('with an interceptor', () => {
    const through = (intercept: (result: Observable<unknown>) => Observable<unknown>, run: () => unknown) =>
      function define(queue: string) {
        @Injectable()
        class Handlers {
          @DelayedHandler(queue, ONCE)
          @UseInterceptors({ intercept: (_context: ExecutionContext, next: CallHandler) => intercept(next.handle()) })
          handle(): unknown {
            return run();
          }
        }
        return Handlers;
      };

    test('passes the interceptor each value of its Observable, or the value of its promise', async () => {
      const results: unknown[] = [];
      await handle(
        through(
          (result) => result.pipe(tap((value) => results.push(value))),
          () => from([1, 2]),
        ),
      );
      await handle(
        through(
          (result) => result.pipe(tap((value) => results.push(value))),
          () => Promise.resolve(3),
        ),
      );
      expect(results).toEqual([1, 2, 3]);
    });

    test('delays the message when it or the interceptor returns again()', async () => {
      for (const define of [
        through(
          (result) => result,
          () => again('1h'),
        ),
        through(
          (result) => result.pipe(map(() => again('1h'))),
          () => 'done',
        ),
      ]) {
        const { producer, queue } = await handle(define);
        expect(await producer.find(queue, 'm1')).toMatchObject({ state: 'delayed' });
      }
    });

    test('completes the message if the interceptor emits no value', async () => {
      const { producer, queue, dead } = await handle(
        through(
          () => EMPTY,
          () => undefined,
        ),
      );
      expect(dead).toEqual([]);
      expect(await producer.find(queue, 'm1')).toBeNull();
    });
  });

  test('runs the enhancers of useGlobalGuards() and similar calls with inheritAppConfig', async () => {
    const queue = scene.newQueue();
    const seen: unknown[] = [];
    @Injectable()
    class Handlers {
      @DelayedHandler(queue)
      handle(payload: unknown): never {
        seen.push(payload);
        throw new NotFoundException();
      }
    }
    class RootModule {}
    const delayQueue = DelayQueueModule.forRoot({
      ...module,
      connection: scene.url,
      prefix: scene.prefix,
      inheritAppConfig: true,
    });
    const app = await NestFactory.create(
      { module: RootModule, imports: [delayQueue], providers: [Handlers] },
      { logger: false },
    );
    app.useGlobalGuards({ canActivate: () => seen.push('guard') > 0 });
    app.useGlobalInterceptors({ intercept: (_context, next) => (seen.push('interceptor'), next.handle()) });
    app.useGlobalPipes({ transform: (payload: number) => payload + 1 });
    app.useGlobalFilters({ catch: (error: Error) => void seen.push(error.name) });
    await app.init();
    try {
      await app.get(DelayQueueProducer).offer(queue, 1, 0);
      await until(() => seen.length === 4);
      expect(seen).toEqual(['guard', 'interceptor', 2, 'NotFoundException']);
    } finally {
      await app.close();
    }
  });

  test('does not run in the async context that a guard of another message has entered', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const queue = scene.newQueue();
    @Injectable()
    class Handlers {
      @DelayedHandler(queue, 'guarded')
      @UseGuards({ canActivate: () => (storage.enterWith('entered'), true) })
      async guarded(): Promise<void> {
        await Promise.resolve();
        seen.push(storage.getStore());
      }
      @DelayedHandler(queue)
      plain(): void {
        seen.push(storage.getStore());
      }
    }
    const { producer } = await scene.startApp({ module, providers: [Handlers] });
    await producer.offerMany(
      queue,
      ['guarded', undefined, 'guarded', undefined].map((type) => ({ payload: 1, delay: 20, ...(type && { type }) })),
    );
    await until(() => seen.length === 4);
    expect(seen.filter((store) => store === undefined)).toHaveLength(2);
    expect(seen.filter((store) => store === 'entered')).toHaveLength(2);
  });

  test('is called synchronously if it has no enhancers', async () => {
    const queue = scene.newQueue();
    @Injectable()
    class Handlers {
      @DelayedHandler(queue)
      handle(payload: unknown): unknown {
        return payload;
      }
    }
    const { context } = await scene.startApp({ module, providers: [Handlers] });
    const handler = context.get(HandlerRegistry).find(queue)!.handlers.get('')!;
    expect(handler.call('at once', {} as DelayedMessage)).toBe('at once');
  });

  test('makes startup fail if Nest has no instance of its guard', async () => {
    @Injectable()
    class Admit implements CanActivate {
      canActivate(): boolean {
        return true;
      }
    }
    const define = (guard: Type<CanActivate> | CanActivate) => {
      class Timeouts {
        @DelayedHandler('made')
        @UseGuards(guard)
        cancelUnpaid(): void {}
      }
      return { provide: 'made', useFactory: () => new Timeouts() };
    };
    await expect(scene.startApp({ module, providers: [define(Admit)] })).rejects.toMatchObject({
      code: 'INVALID_HANDLER',
      message: expect.stringMatching(/Timeouts|made.*Admit/),
    });
    await expect(scene.startApp({ module, providers: [define(new Admit())] })).resolves.toBeDefined();
  });
});

describe('handlers', () => {
  // A process of its own: jest cannot require what nestjs-cls requires of Nest.
  test('see the nestjs-cls store that their own guard or interceptor has entered, and no other', async () => {
    expect(await runProgram('../smoke/programs/enhancer-packages.ts', {})).toEqual(WITH_PACKAGES);
  });
});
