import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  DelayQueueProducer,
  getDelayQueueProducerToken,
  payload,
} from '../../lib/index.js';
import { observeQueues, openTelemetry } from '../../lib/otel/index.js';
import { DelayQueueHealthIndicator, type DelayQueueHealthOptions } from '../../lib/terminus/index.js';
import { DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import { Telemetry } from '../support/otel/telemetry.js';
import { Scene } from '../support/scene.js';
import { startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

@Injectable()
class Handlers {
  @DelayedHandler('orders')
  @DelayedHandler('orders', { instance: 'billing' })
  handle(): void {}
}

let app: TestApp | undefined;
afterEach(() => app?.close());

const billingProducer = () =>
  app!.context.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'), { strict: false });

describe('the health of an instance', () => {
  const main = new Scene({});
  const billing = new Scene({});
  const NOTHING = { delayed: 0, ready: 0, active: 0, dead: 0, paused: false, overdue: 0 };

  class Invoices extends DelayQueue('invoices', payload<string>(), { instance: 'billing' }) {}
  class Orders extends DelayQueue('orders', payload<string>()) {}

  async function startApp() {
    app = await startRoot({
      module: class {},
      imports: [
        DelayQueueModule.forRoot({ connection: main.url }),
        DelayQueueModule.forRoot({ name: 'billing', connection: billing.url }),
        TerminusModule,
      ],
      providers: [Handlers, Invoices, Orders, DelayQueueHealthIndicator],
    });
    const indicator = app.context.get(DelayQueueHealthIndicator);
    return async (options?: DelayQueueHealthOptions) => (await indicator.check('queues', options)).queues;
  }

  test('covers only its own queues', async () => {
    const check = await startApp();
    await billingProducer().offer('orders', 1, '1h');
    await billingProducer().offer('invoices', 1, '1h');
    expect(await check()).toEqual({ status: 'up', queues: { orders: NOTHING } });
    const options = { instance: 'billing', queues: ['orders', Invoices] };
    const one = { ...NOTHING, delayed: 1 };
    expect(await check({ instance: 'billing' })).toEqual({ status: 'up', queues: { orders: one } });
    expect(await check(options)).toEqual({ status: 'up', queues: { orders: one, invoices: one } });
  });

  test('is down while its own Redis does not respond, and that of the other instance stays up', async () => {
    const check = await startApp();
    await billing.server.freeze();
    expect((await check({ instance: 'billing', timeout: 300 })).status).toBe('down');
    expect((await check({ timeout: 300 })).status).toBe('up');
    await billing.server.thaw();
    await until(async () => (await check({ instance: 'billing' })).status === 'up');
  });

  test.each<[DelayQueueHealthOptions, string]>([
    [
      { instance: 'other' },
      "there is no DelayQueueModule.forRoot({ name: 'other' }), only the one without a name, 'billing'",
    ],
    [{ instance: 'a b' }, 'instance must be 1–64 of the characters'],
    [{ queues: [Invoices] }, "queues.0: queue 'invoices' belongs to another instance: set instance: 'billing'"],
    [
      { instance: 'billing', queues: ['orders', Orders] },
      "queues.1: queue 'orders' belongs to another instance: leave instance out",
    ],
  ])('cannot be checked with the options %p', async (options, problem) => {
    const check = await startApp();
    const message: unknown = expect.stringContaining(problem);
    await expect(check(options)).rejects.toMatchObject({ code: 'INVALID_OPTION', message });
  });
});

describe('the board of an instance', () => {
  class Invoices extends DelayQueue('invoices', payload<string>(), { instance: 'billing' }) {}
  class Orders extends DelayQueue('orders', payload<string>()) {}

  test('refuses a typed queue of another instance', async () => {
    app = await startRoot({
      module: class {},
      imports: [
        DelayQueueModule.forRoot({ store: 'memory' }),
        DelayQueueModule.forRoot({ name: 'billing', store: 'memory' }),
      ],
      providers: [Invoices, Orders],
    });
    const { context, producer } = app;
    const names = [
      new DelayQueueBoardAdapter(producer, Orders),
      new DelayQueueBoardAdapter(producer, context.get(Orders)),
      new DelayQueueBoardAdapter(billingProducer(), Invoices),
      new DelayQueueBoardAdapter(billingProducer(), context.get(Invoices), { prefix: 'a ' }),
      new DelayQueueBoardAdapter(billingProducer(), 'orders'),
    ].map((adapter) => adapter.getName());
    expect(names).toEqual(['orders', 'orders', 'billing:invoices', 'a billing:invoices', 'billing:orders']);
    const refused = (expected: string) =>
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`pass that of @InjectDelayQueueProducer(${expected})`),
      });
    for (const queue of [Invoices, context.get(Invoices)]) {
      expect(() => new DelayQueueBoardAdapter(producer, queue)).toThrow(refused("'billing'"));
    }
    expect(() => new DelayQueueBoardAdapter(billingProducer(), Orders)).toThrow(refused(''));
  });
});

describe('the reports to OpenTelemetry and diagnostics channels', () => {
  let telemetry: Telemetry;
  beforeEach(() => {
    telemetry = new Telemetry();
    telemetry.register();
  });
  afterEach(() => telemetry.unregister());

  /** One observer for both. */
  async function startApp() {
    const observers = [openTelemetry()];
    app = await startRoot({
      module: class {},
      imports: [
        DelayQueueModule.forRoot({ store: 'memory', observers }),
        DelayQueueModule.forRoot({ name: 'billing', store: 'memory', observers }),
      ],
      providers: [Handlers],
    });
  }
  const instancesIn = (attributes: readonly Readonly<Record<string, unknown>>[]) =>
    attributes.map((each) => each['delay_queue.instance']).sort();

  test('name the instance in spans and metrics, unless it has no name', async () => {
    await startApp();
    await app!.producer.offer('orders', 1, 0);
    await billingProducer().offer('orders', 1, 0);
    const names = ['offer orders', 'process orders'];
    for (const name of names) {
      const spans = await telemetry.untilSpans(name, 2);
      expect(instancesIn(spans.map(({ attributes }) => attributes))).toEqual(['billing', undefined]);
    }
    for (const metric of [
      'messaging.client.sent.messages',
      'messaging.process.duration',
      'delay_queue.messages.transferred',
    ]) {
      const points = await telemetry.points(metric);
      expect([metric, instancesIn(points.map(({ attributes }) => attributes))]).toEqual([
        metric,
        ['billing', undefined],
      ]);
    }
  });

  test('cover the queues of each instance separately', async () => {
    await startApp();
    await billingProducer().offer('invoices', 1, '1h');
    observeQueues(app!.context, ['invoices']);
    observeQueues(app!.context, ['invoices'], { instance: 'billing' });
    const points = await telemetry.points('delay_queue.queue.messages');
    const delayed = points.filter(({ attributes }) => attributes['delay_queue.message.state'] === 'delayed');
    expect(
      Object.fromEntries(delayed.map(({ attributes, value }) => [attributes['delay_queue.instance'], value])),
    ).toEqual({
      undefined: 0,
      billing: 1,
    });
    expect(() => observeQueues(app!.context, ['invoices'], { instance: 'other' })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
  });

  test("name an event's instance in a diagnostics channel", async () => {
    const events: unknown[] = [];
    const listen = (event: unknown) => void events.push((event as { instance?: string }).instance);
    subscribe('nestjs-delay-queue:handled', listen);
    await startApp();
    await app!.producer.offer('orders', 1, 0);
    await billingProducer().offer('orders', 1, 0);
    await until(() => events.length === 2);
    unsubscribe('nestjs-delay-queue:handled', listen);
    expect(events.sort()).toEqual(['billing', undefined]);
  });
});
