import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  Module,
  Scope,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  type ContextId,
  ContextIdFactory,
  type HostComponentInfo,
  ModuleRef,
  REQUEST,
} from '@nestjs/core';
import { defer, of } from 'rxjs';
import { again, DelayedHandler, type DelayedMessage, type DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import type { TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

/** A class of which each message gets an instance. */
@Injectable({ scope: Scope.REQUEST })
class Transaction {
  readonly handled: string[] = [];
  constructor(@Inject(REQUEST) readonly message: DelayedMessage) {}
}

@Injectable({ scope: Scope.REQUEST })
class Identity {
  transform(value: unknown): unknown {
    return value;
  }
}

const messageOf = (context: ExecutionContext) => context.getArgByIndex<DelayedMessage>(1);

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('a handler with a scope, on %s', (_, module: DelayQueueModuleOptions) => {
  const scene = new Scene();
  const handled = new Handled();
  const seen: unknown[] = [];

  afterEach(() => {
    handled.calls.length = 0;
    seen.length = 0;
  });

  /** Starts an application with a handler class, and offers messages m1, m2 … to it. */
  async function start(define: (queue: string) => Type, more: TestAppParts & { count?: number; module?: object } = {}) {
    const { count = 2, ...parts } = more;
    const queue = scene.newQueue();
    const app = await scene.startApp({
      ...parts,
      module: { ...module, ...parts.module },
      providers: [Transaction, define(queue), ...(parts.providers ?? [])],
    });
    const requests = Array.from({ length: count }, (_each, i) => ({
      id: `m${i + 1}`,
      payload: i + 1,
      delay: 0,
      headers: { tenant: `t${i % 2}` },
    }));
    await app.producer.offerMany(queue, requests);
    const isDone = async () => {
      const { delayed, ready, active } = await app.producer.counts(queue);
      return delayed + ready + active === 0;
    };
    return { ...app, queue, done: () => until(isDone) };
  }

  function sharing(queue: string): Type {
    @Injectable()
    class Handlers {
      constructor(
        readonly transaction: Transaction,
        readonly moduleRef: ModuleRef,
      ) {}
      @DelayedHandler(queue)
      async handle(payload: unknown, message: DelayedMessage): Promise<void> {
        await sleep(1);
        const found = await this.moduleRef.resolve(Transaction, ContextIdFactory.getByRequest(message));
        seen.push([payload, this.transaction.message === message, found === this.transaction]);
      }
    }
    return Handlers;
  }

  test('gets a new instance of itself and its dependencies for each message, with the message as REQUEST', async () => {
    const { done } = await start(sharing, { count: 20 });
    await done();
    expect(seen.sort()).toEqual(Array.from({ length: 20 }, (_each, i) => [i + 1, true, true]).sort());
  });

  test.each([
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])('is called on a new instance for each message if its provider is %s', async (_scope, scope) => {
    const { done } = await start((queue) => {
      @Injectable({ scope })
      class Handlers {
        #calls = 0;
        @DelayedHandler(queue)
        handle(payload: unknown): unknown {
          return defer(() => of(seen.push([payload, ++this.#calls])));
        }
      }
      return Handlers;
    });
    await done();
    expect(seen.sort()).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test('may have request-scoped guards, interceptors, pipes and filters, created for each message', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Everything {
      constructor(private readonly transaction: Transaction) {}
      #note(what: string): void {
        this.transaction.handled.push(what);
      }
      canActivate(): boolean {
        this.#note('guard');
        return true;
      }
      intercept(__: ExecutionContext, next: CallHandler) {
        this.#note('interceptor');
        return next.handle();
      }
      transform(value: unknown): unknown {
        this.#note('pipe');
        return value;
      }
    }
    @Catch()
    @Injectable({ scope: Scope.REQUEST })
    class Tell {
      constructor(private readonly transaction: Transaction) {}
      catch(): void {
        seen.push([this.transaction.message.id, ...this.transaction.handled]);
      }
    }
    const { done } = await start((queue) => {
      @Injectable()
      @UseGuards(Everything)
      class Handlers {
        @DelayedHandler(queue)
        @UseInterceptors(Everything)
        @UsePipes(Everything)
        @UseFilters(Tell)
        handle(): void {
          throw new Error('for the filter');
        }
      }
      return Handlers;
    });
    await done();
    expect(seen.sort()).toEqual([
      ['m1', 'guard', 'interceptor', 'pipe'],
      ['m2', 'guard', 'interceptor', 'pipe'],
    ]);
  });

  test.each([
    ['the object that the strategy supplies', true],
    ['undefined, not the first message, when the strategy supplies nothing', false],
  ])(
    'shares durable providers between messages with the same tenant header, and their REQUEST is %s',
    async (_what, hasPayload) => {
      @Injectable({ scope: Scope.REQUEST, durable: true })
      class Tenant {
        constructor(@Inject(REQUEST) readonly payload: { readonly tenant: string } | undefined) {}
      }
      const tenants = new Map<string, ContextId>();
      ContextIdFactory.apply({
        attach: (contextId: ContextId, { headers: { tenant = '' } }: DelayedMessage) => {
          const ofTenant = tenants.get(tenant) ?? ContextIdFactory.create();
          tenants.set(tenant, ofTenant);
          const resolve = (info: HostComponentInfo) => (info.isTreeDurable ? ofTenant : contextId);
          return hasPayload ? { resolve, payload: { tenant } } : resolve;
        },
      });
      try {
        const { done } = await start(
          (queue) => {
            @Injectable()
            class Handlers {
              constructor(readonly tenant: Tenant) {}
              @DelayedHandler(queue)
              handle(__: unknown, { headers }: DelayedMessage): void {
                seen.push({ tenant: this.tenant, header: headers.tenant });
              }
            }
            return Handlers;
          },
          { count: 6, providers: [Tenant] },
        );
        await done();
        const calls = seen as { tenant: Tenant; header: string }[];
        expect(calls).toHaveLength(6);
        const requests = calls.map(({ tenant: { payload } }) => payload);
        expect(requests).toEqual(calls.map(({ header: tenant }) => (hasPayload ? { tenant } : undefined)));
        expect(new Set(calls.map(({ tenant }) => tenant)).size).toBe(2);
      } finally {
        ContextIdFactory.apply(undefined as never);
      }
    },
  );

  test('fails the attempt and is retried when an instance cannot be created', async () => {
    let failures = 2;
    @Injectable({ scope: Scope.REQUEST })
    class Connection {
      constructor() {
        if (failures-- > 0) throw new Error('no connection');
      }
    }
    const { done, log } = await start(
      (queue) => {
        @Injectable()
        class Handlers {
          constructor(readonly connection: Connection) {}
          @DelayedHandler(queue, { backoff: { type: 'fixed', delay: 0 } })
          handle(payload: unknown, message: DelayedMessage): void {
            handled.record(payload, message);
          }
        }
        return Handlers;
      },
      { count: 1, providers: [Connection] },
    );
    await done();
    expect(handled.calls.map(({ attempt }) => attempt)).toEqual([3]);
    expect(log.filter((line) => line.includes('no connection'))).toHaveLength(2);
  });

  test('is called on the provider of its own module, even if another module has one under the same token', async () => {
    const queues = [scene.newQueue(), scene.newQueue()] as const;
    const modules = queues.map((queue) => {
      @Injectable({ scope: Scope.REQUEST })
      class Handlers {
        @DelayedHandler(queue)
        handle(payload: unknown): void {
          seen.push(`${queue} ${String(payload)}`);
        }
      }
      @Module({ providers: [{ provide: 'handlers', useClass: Handlers }] })
      class Shop {}
      return Shop;
    });
    const { producer } = await scene.startApp({ module, imports: modules });
    for (const queue of queues) await producer.offer(queue, queue, 0);
    await until(() => seen.length === 2);
    expect([...seen].sort()).toEqual(queues.map((queue) => `${queue} ${queue}`).sort());
  });

  test('has as many instances at once as messages being handled, each with its own signal', async () => {
    const [started, release] = [new Latch(), new Latch()];
    let running = 0;
    const { done } = await start(
      (queue) => {
        @Injectable()
        class Handlers {
          constructor(readonly transaction: Transaction) {}
          @DelayedHandler(queue, { concurrency: 4, attempts: 1, timeout: '200ms', lease: '1s' })
          async handle(payload: number, { signal, id }: DelayedMessage): Promise<void> {
            if (++running === 4) started.open();
            await started.opened;
            if (payload === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
            else await release.opened;
            seen.push([id === this.transaction.message.id, signal.aborted]);
          }
        }
        return Handlers;
      },
      { count: 4 },
    );
    await started.opened;
    await until(() => seen.length === 1);
    release.open();
    await done();
    expect(seen[0]).toEqual([true, true]);
    expect(seen).toHaveLength(4);
  });

  test('can return again() like any other handler', async () => {
    const { done } = await start(
      (queue) => {
        @Injectable({ scope: Scope.REQUEST })
        class Handlers {
          @DelayedHandler(queue)
          handle(payload: number, message: DelayedMessage): unknown {
            handled.record(payload, message);
            return payload < 3 ? again(0, { payload: payload + 1 }) : undefined;
          }
        }
        return Handlers;
      },
      { count: 1 },
    );
    await done();
    expect(handled.calls.map(({ payload }) => payload)).toEqual([1, 2, 3]);
  });

  describe('and application-wide enhancers', () => {
    function enhancerOf(name: string, scope: Scope) {
      @Catch()
      @Injectable({ scope })
      class OfApplication {
        #uses = 0;
        #tell(kind: string, message: DelayedMessage): void {
          seen.push(`${name} ${kind} ${message.id} ${++this.#uses}`);
        }
        canActivate(context: ExecutionContext): boolean {
          this.#tell('guard', messageOf(context));
          return true;
        }
        intercept(context: ExecutionContext, next: CallHandler) {
          this.#tell('interceptor', messageOf(context));
          return next.handle();
        }
        transform(value: unknown): unknown {
          this.#tell('pipe', { id: 'of a payload' } as DelayedMessage);
          return value;
        }
        catch(__: unknown, host: ExecutionContext): void {
          this.#tell('filter', messageOf(host));
        }
      }
      return OfApplication;
    }

    function plain(queue: string): Type {
      @Injectable()
      class Handlers {
        #calls = 0;
        @DelayedHandler(queue, { concurrency: 1 })
        handle(): void {
          seen.push(`call ${++this.#calls}`);
          throw new Error('for the filter');
        }
      }
      return Handlers;
    }

    const TOKENS = [APP_GUARD, APP_INTERCEPTOR, APP_PIPE, APP_FILTER];

    test('does not run them by default', async () => {
      const useClass = enhancerOf('x', Scope.DEFAULT);
      const { queue, producer } = await start(
        (name) => {
          @Injectable()
          class Handlers {
            @DelayedHandler(name)
            handle(): void {
              seen.push('call');
            }
          }
          return Handlers;
        },
        { count: 1, providers: TOKENS.map((provide) => ({ provide, useClass })) },
      );
      await until(async () => (await producer.find(queue, 'm1')) === null);
      expect(seen).toEqual(['call']);
    });

    test.each([
      ['singletons', Scope.DEFAULT, [1, 2]],
      ['request-scoped', Scope.REQUEST, [1, 1]],
      ['transient', Scope.TRANSIENT, [1, 1]],
    ])(
      'with inheritAppConfig runs those that are %s, and stays a single instance itself',
      async (_what, scope, [first, second]) => {
        const { done } = await start(plain, {
          module: { inheritAppConfig: true },
          providers: TOKENS.map((provide) => ({ provide, useClass: enhancerOf('app', scope) })),
        });
        await done();
        const linesOf = (id: string, uses: number, calls: number) => [
          `app guard ${id} ${uses}`,
          `app interceptor ${id} ${uses}`,
          `app pipe of a payload ${uses}`,
          `call ${calls}`,
          `app filter ${id} ${uses}`,
        ];
        expect(seen).toEqual([...linesOf('m1', first!, 1), ...linesOf('m2', second!, 2)]);
      },
    );
  });

  test('keeps its own transient guard when the application has scoped enhancers', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Counting implements CanActivate {
      #uses = 0;
      readonly isMade = true;
      canActivate(): boolean {
        seen.push([this.isMade, ++this.#uses]);
        return true;
      }
    }
    const { done } = await start(
      (queue) => {
        @Injectable()
        class Handlers {
          @DelayedHandler(queue)
          @UseGuards(Counting)
          handle(): void {}
        }
        return Handlers;
      },
      { module: { inheritAppConfig: true }, providers: [{ provide: APP_PIPE, useClass: Identity }] },
    );
    await done();
    expect(seen).toEqual([
      [true, 1],
      [true, 2],
    ]);
  });

  describe('of a controller', () => {
    @Injectable({ scope: Scope.REQUEST })
    class ScopedGuard implements CanActivate {
      canActivate(): boolean {
        return true;
      }
    }

    function controllerWith(scope: Scope, ...decorators: ClassDecorator[]): Type {
      class Orders {
        constructor() {}
        @DelayedHandler('q')
        cancelUnpaid(): void {}
      }
      for (const decorate of [Controller({ scope }), ...decorators]) decorate(Orders);
      return Orders;
    }

    test.each<[string, TestAppParts]>([
      ['the controller is request-scoped', { controllers: [controllerWith(Scope.REQUEST)] }],
      ['the controller is transient', { controllers: [controllerWith(Scope.TRANSIENT)] }],
      ['its guard is request-scoped', { controllers: [controllerWith(Scope.DEFAULT, UseGuards(ScopedGuard))] }],
      [
        'a guard of the application is request-scoped',
        { controllers: [controllerWith(Scope.DEFAULT)], providers: [{ provide: APP_GUARD, useClass: ScopedGuard }] },
      ],
    ])('makes startup fail if %s, with the advice to move it into a provider', async (_how, parts) => {
      await expect(scene.startApp({ module, ...parts })).rejects.toMatchObject({
        code: 'INVALID_HANDLER',
        message: expect.stringMatching(/Orders\.cancelUnpaid.*Move the handler into a provider/),
      });
    });
  });
});

describe('the instances created for messages', () => {
  const scene = new Scene();

  test('are garbage-collected together with their messages', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const queue = scene.newQueue();
    const instances: WeakRef<object>[] = [];
    let held = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Large {
      readonly content = new Array<number>(10_000).fill(1);
      constructor(@Inject(REQUEST) readonly message: DelayedMessage) {
        instances.push(new WeakRef(this), new WeakRef(message));
      }
    }
    @Injectable({ scope: Scope.TRANSIENT })
    class LargeGuard implements CanActivate {
      readonly content = new Array<number>(10_000).fill(1);
      constructor(readonly large: Large) {
        instances.push(new WeakRef(this));
      }
      canActivate(): boolean {
        return true;
      }
    }
    @Injectable()
    class Handlers {
      constructor(readonly large: Large) {
        instances.push(new WeakRef(this));
      }
      @DelayedHandler(queue)
      @UseGuards(LargeGuard)
      handle(): void {
        held += 1;
      }
    }
    const { producer } = await scene.startApp({ module: { store: 'memory' }, providers: [Large, Handlers] });
    const count = 1000;
    await producer.offerMany(
      queue,
      Array.from({ length: count }, (_, payload) => ({ payload, delay: 0 })),
    );
    await until(() => held === count);
    expect(instances).toHaveLength(4 * count);
    await until(
      async () => {
        collectGarbage();
        await sleep(10);
        return instances.filter((instance) => instance.deref() !== undefined).length < 40;
      },
      { within: 30_000 },
    );
  });
});
