import { afterEach, describe, expect, test } from '@jest/globals';
import { Injectable, Module, type OnApplicationBootstrap, type OnModuleInit, type Type } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueModule } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startRoot, type TestApp } from '../support/test-app.js';

const SLOW = 300;

describe('application startup', () => {
  const scene = new Scene();
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  /** The time at which the slow part ended, once it has. */
  let done: number | undefined;
  const beSlow = async () => {
    await sleep(SLOW);
    done = Date.now();
  };

  @Injectable()
  class SlowInit implements OnModuleInit {
    onModuleInit = beSlow;
  }

  @Injectable()
  class SlowBootstrap implements OnApplicationBootstrap {
    onApplicationBootstrap = beSlow;
  }

  @Module({ providers: [SlowInit] })
  class SlowInitModule {}

  @Module({ providers: [SlowBootstrap] })
  class SlowBootstrapModule {}

  @Module({ imports: [SlowBootstrapModule] })
  class FarModule {}

  class QuickRoot {}

  class SlowRoot implements OnApplicationBootstrap {
    onApplicationBootstrap = beSlow;
  }

  class SlowRootMethod implements OnApplicationBootstrap {
    async onApplicationBootstrap(): Promise<void> {
      await beSlow();
    }
  }

  test.each<[string, Type, Type[], Type[]]>([
    ['a slow onModuleInit of another module', QuickRoot, [SlowInitModule], []],
    ['a slow onApplicationBootstrap of another module', QuickRoot, [SlowBootstrapModule], []],
    ['a slow onApplicationBootstrap of a module deep in the tree', QuickRoot, [FarModule], []],
    ['a slow onApplicationBootstrap of a provider of the root module', QuickRoot, [], [SlowBootstrap]],
    ["a slow onApplicationBootstrap of the root module's class", SlowRoot, [], []],
    ["a slow onApplicationBootstrap method of the root module's class", SlowRootMethod, [], []],
  ])('does not run handlers before the end of %s', async (_what, root, imports, providers) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const ahead = await scene.startApp();
    await ahead.producer.offer(queue, 'due already', 0);

    done = undefined;
    const handler = handlerOf(queue, (payload, message) => {
      expect(done).toBeDefined();
      handled.record(payload, message);
    });
    const delayQueue = DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix });
    app = await startRoot({ module: root, imports: [delayQueue, ...imports], providers: [handler, ...providers] });
    const { at } = await handled.untilCalls(1);

    expect(at).toBeGreaterThanOrEqual(done!);
    expect(handled.calls[0]!.attempt).toBe(1);
  });

  test('fails and leaves no connection behind if a client for wake-up signals cannot be created', async () => {
    let made = 0;
    const clients: Redis[] = [];
    const connection = (overrides: RedisOptions) => {
      // A connection for wake-up signals is a client of its own for each 64 queues.
      if (overrides.connectionName?.endsWith(':wake-signals') && ++made === 2) throw new Error('No more clients');
      const client = new Redis(scene.url, overrides);
      clients.push(client);
      return client;
    };
    const name = scene.newQueue();
    const providers = Array.from({ length: 65 }, (_, i) => handlerOf(`${name}-${i}`, () => undefined));
    await expect(scene.startApp({ module: { connection }, providers })).rejects.toThrow('No more clients');
    expect(clients.map(({ status }) => status)).toEqual(clients.map(() => 'end'));
    expect(made).toBe(2);
  });

  test('loses no message that is offered during it', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    @Injectable()
    class Early implements OnModuleInit {
      async onModuleInit(): Promise<void> {
        await ahead.producer.offer(queue, 'early', 0);
      }
    }
    const ahead = await scene.startApp();
    await scene.startApp({ providers: [Early, handlerOf(queue, handled.record)] });
    await handled.untilCalls(1);
    expect(handled.calls).toHaveLength(1);
  });
});
