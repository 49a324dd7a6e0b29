import { type CanActivate, Injectable, Scope, type Type, UseGuards } from '@nestjs/common';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DelayedHandler, DelayQueueModule, OnDelayQueueEvent } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

class RootModule {}

@Injectable()
class Admits implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

describe('an application with the option instrument', () => {
  const scene = new Scene();
  let app: TestApp | undefined;

  afterEach(() => app?.close());

  /** Starts an application with a proxy in place of each instance, as NestJS Observe does, and offers a message. */
  async function start(declare: (queue: string) => Type): Promise<readonly string[]> {
    const queue = scene.newQueue();
    const calls: string[] = [];
    const instrument = { instanceDecorator: (instance: unknown) => notingCalls(instance, (name) => calls.push(name)) };
    const module = DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix });
    const root = { module: RootModule, imports: [module], providers: [declare(queue)] };
    app = await startRoot(root, { instrument });
    await app.producer.offer(queue, { orderId: 7 }, 1);
    return calls;
  }

  async function expectOneCall(calls: readonly string[], method: string): Promise<void> {
    await until(() => calls.includes(method));
    expect(calls.filter((name) => name === method)).toHaveLength(1);
  }

  test('calls a handler on the decorated instance', async () => {
    const calls = await start((queue) => {
      @Injectable()
      class Orders {
        readonly #due = 7;

        @DelayedHandler(queue)
        cancel(): number {
          return this.#due;
        }
      }
      return Orders;
    });
    await expectOneCall(calls, 'Orders.cancel');
  });

  test('calls a handler behind enhancers on the decorated instance', async () => {
    const calls = await start((queue) => {
      @Injectable()
      class Orders {
        @DelayedHandler(queue)
        @UseGuards(Admits)
        cancel(): void {}
      }
      return Orders;
    });
    await expectOneCall(calls, 'Orders.cancel');
  });

  test('calls a request-scoped handler on the decorated instance', async () => {
    const calls = await start((queue) => {
      @Injectable({ scope: Scope.REQUEST })
      class Orders {
        @DelayedHandler(queue)
        cancel(): void {}
      }
      return Orders;
    });
    await expectOneCall(calls, 'Orders.cancel');
  });

  test('calls a listener on the decorated instance', async () => {
    const calls = await start((queue) => {
      @Injectable()
      class Orders {
        @DelayedHandler(queue)
        cancel(): void {}
        @OnDelayQueueEvent('handled', queue)
        note(): void {}
      }
      return Orders;
    });
    await expectOneCall(calls, 'Orders.note');
  });
});

/** A proxy whose methods are called on the instance itself, because only that has its private fields. */
function notingCalls(instance: unknown, note: (name: string) => void): unknown {
  // A Map's methods can only be called on the Map.
  if (typeof instance !== 'object' || instance === null || instance instanceof Map) return instance;
  return new Proxy(instance, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'constructor') return value;
      return (...args: unknown[]): unknown => {
        note(`${target.constructor.name}.${String(name)}`);
        return Reflect.apply(value, target, args);
      };
    },
  });
}
