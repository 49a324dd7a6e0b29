import { afterEach, describe, expect, test } from '@jest/globals';
import { type DynamicModule, Injectable, type Provider, type Type } from '@nestjs/common';
import {
  DelayedHandler,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  DelayQueueProducer,
  getDelayQueueProducerToken,
  InjectDelayQueueProducer,
} from '../../lib/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const main = new Scene({});
const billing = new Scene({});
let app: TestApp | undefined;
afterEach(() => app?.close());

const MAIN = (options: DelayQueueModuleOptions = {}) => DelayQueueModule.forRoot({ connection: main.url, ...options });
const BILLING = (options: DelayQueueModuleOptions = {}) =>
  DelayQueueModule.forRoot({ name: 'billing', connection: billing.url, ...options });

const start = async (imports: DynamicModule[], providers: Provider[] = []): Promise<TestApp> =>
  (app = await startRoot({ module: class {}, imports, providers }));
const billingProducer = () =>
  app!.context.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'), { strict: false });

/** A provider that handles `orders` of both instances. */
function handlerOfBoth(handle: (instance: 'main' | 'billing', payload: unknown) => unknown): Type {
  @Injectable()
  class Handlers {
    @DelayedHandler('orders')
    ofMain(payload: unknown): unknown {
      return handle('main', payload);
    }

    @DelayedHandler('orders', { instance: 'billing' })
    ofBilling(payload: unknown): unknown {
      return handle('billing', payload);
    }
  }
  return Handlers;
}

/** How many connections a server has besides that of the test. */
async function connectionsTo({ redis }: Scene): Promise<number> {
  return (
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length - 1
  );
}

describe('a failed startup', () => {
  const HANDLERS = handlerOfBoth(() => undefined);

  test.each<[string, () => DynamicModule[], string]>([
    [
      "the second one's login is refused",
      () => [MAIN(), BILLING({ connection: `redis://:wrong@${hostOf(billing)}/99` })],
      'LOGIN_REFUSED',
    ],
    [
      "the first one's login is refused",
      () => [BILLING({ connection: `redis://:wrong@${hostOf(billing)}/99` }), MAIN()],
      'LOGIN_REFUSED',
    ],
    [
      "the second one's options contradict each other",
      () => [MAIN(), BILLING({ queues: { orders: { partitions: 2, rate: { max: 1, per: '1s' } } } })],
      'INVALID_OPTION',
    ],
    [
      "the first one's options contradict each other",
      () => [BILLING({ queues: { orders: { partitions: 2, rate: { max: 1, per: '1s' } } } }), MAIN()],
      'INVALID_OPTION',
    ],
  ])('leaves neither instance connected when %s', async (_why, imports, code) => {
    await expect(start(imports(), [HANDLERS])).rejects.toMatchObject({ code });
    await until(async () => (await connectionsTo(main)) + (await connectionsTo(billing)) === 0);
  });
});

describe('shutdown', () => {
  test("lets the handlers of all instances finish in parallel and send messages through each other's producers", async () => {
    const began = new Set<string>();
    const ended = new Set<string>();

    @Injectable()
    class Handlers {
      @InjectDelayQueueProducer() readonly main!: DelayQueueProducer;
      @InjectDelayQueueProducer('billing') readonly billing!: DelayQueueProducer;

      @DelayedHandler('orders')
      ofMain(): Promise<void> {
        return this.#work('main', this.billing);
      }

      @DelayedHandler('orders', { instance: 'billing' })
      ofBilling(): Promise<void> {
        return this.#work('billing', this.main);
      }

      async #work(instance: string, other: DelayQueueProducer): Promise<void> {
        began.add(instance);
        await closing.opened;
        // Each waits for the other: one after the other they would not end.
        ended.add(instance);
        await until(() => ended.size === 2, { within: 3000 });
        await other.offer('left', instance, '1h', { id: instance });
      }
    }
    const closing = new Latch();
    await start([MAIN(), BILLING()], [Handlers]);
    const handlers = app!.context.get(Handlers);
    await handlers.main.offer('orders', null, 0, { id: 'm' });
    await handlers.billing.offer('orders', null, 0, { id: 'm' });
    await until(() => began.size === 2);
    const closed = app!.close();
    closing.open();
    await closed;
    expect(await connectionsTo(main)).toBe(0);
    expect(await connectionsTo(billing)).toBe(0);

    await start([MAIN({ consume: false }), BILLING({ consume: false })]);
    expect(await app!.producer.find('orders', 'm')).toBeNull();
    expect(await billingProducer().find('orders', 'm')).toBeNull();
    expect(await app!.producer.find('left', 'billing')).toMatchObject({ state: 'delayed' });
    expect(await billingProducer().find('left', 'main')).toMatchObject({ state: 'delayed' });
  });

  test('waits for the longest shutdownTimeout of the instances, not for the sum', async () => {
    const began = new Set<string>();
    const forever = new Latch();
    const handlers = handlerOfBoth(async (instance) => {
      began.add(instance);
      await forever.opened;
    });
    await start([MAIN({ shutdownTimeout: 1000 }), BILLING({ shutdownTimeout: 1500 })], [handlers]);
    await app!.producer.offer('orders', null, 0);
    await billingProducer().offer('orders', null, 0);
    await until(() => began.size === 2);
    const from = performance.now();
    await app!.close();
    const took = performance.now() - from;
    forever.open();
    expect(took).toBeGreaterThanOrEqual(1490);
    expect(took).toBeLessThan(2400);
    expect(app!.log.filter((line) => line.includes('within shutdownTimeout'))).toHaveLength(2);
    await Promise.all([main, billing].map(({ redis }) => redis.flushall()));
  });
});

describe('an instance whose Redis is down', () => {
  test.each<[string, () => Promise<void>, () => Promise<void>]>([
    ['frozen', () => billing.server.freeze(), () => billing.server.thaw()],
    ['killed', () => billing.server.kill9(), () => billing.server.restart()],
  ])('does not affect the others and works again once Redis is back (%s)', async (_how, down, up) => {
    const handled: string[] = [];
    const handlers = handlerOfBoth((instance, payload) => void handled.push(`${instance} ${String(payload)}`));
    await start([MAIN(), BILLING({ offerTimeout: 500 })], [handlers]);
    await down();
    const failed = billingProducer().offer('orders', 'refused', 0);
    const from = performance.now();
    await app!.producer.offer('orders', 'a', 0);
    await until(() => handled.includes('main a'), { within: 1000 });
    expect(performance.now() - from).toBeLessThan(1000);
    await expect(failed).rejects.toMatchObject({ code: expect.stringMatching(/^(NOT_CONNECTED|OUTCOME_UNKNOWN)$/) });
    await up();
    await until(
      async () =>
        await billingProducer()
          .offer('orders', 'b', 0)
          .catch(() => undefined),
      { within: 20_000 },
    );
    await until(() => handled.includes('billing b'), { within: 20_000 });
    expect(handled.filter((each) => each.startsWith('main'))).toEqual(['main a']);
  });

  test('does not affect the others at startup, and works once Redis is back', async () => {
    const handled: string[] = [];
    const handlers = handlerOfBoth((instance) => void handled.push(instance));
    await billing.server.kill9();
    await start([BILLING({ offerTimeout: 300 }), MAIN()], [handlers]);
    await app!.producer.offer('orders', 'a', 0);
    await until(() => handled.includes('main'));
    await billing.server.restart();
    await until(
      async () =>
        await billingProducer()
          .offer('orders', 'b', 0)
          .catch(() => undefined),
      { within: 20_000 },
    );
    await until(() => handled.includes('billing'), { within: 20_000 });
    expect(handled).toEqual(['main', 'billing']);
  });
});

function hostOf({ url }: Scene): string {
  return new URL(url).host;
}
