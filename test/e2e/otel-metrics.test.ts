import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeferMessage, type DelayQueueEvent, type DelayQueueModuleOptions } from '../../lib/index.js';
import { openTelemetry, type OpenTelemetryOptions } from '../../lib/otel/index.js';
import { Handled } from '../support/handled.js';
import { type Point, Telemetry } from '../support/otel/telemetry.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const scene = new Scene();
let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry();
  telemetry.register();
});

afterEach(() => telemetry.unregister());

interface AppOptions extends OpenTelemetryOptions {
  readonly handle?: () => unknown;
  readonly module?: DelayQueueModuleOptions;
}

/** An application in memory that measures a queue and handles it; three attempts, 1 ms apart. */
async function startApp({ handle, module, ...options }: AppOptions = {}) {
  const queue = scene.newQueue();
  const handled = new Handled();
  const handler = handlerOf(queue, (payload, message) => {
    handled.record(payload, message);
    return handle?.();
  });
  const defaults = { attempts: 3, backoff: { type: 'fixed', delay: 1 } } as const;
  const app = await scene.startApp({
    module: { store: 'memory', defaults, observers: [openTelemetry(options)], ...module },
    providers: [handler],
  });
  return { queue, handled, ...app };
}

function ofOffer(queue: string) {
  return {
    'messaging.system': 'delay_queue',
    'messaging.destination.name': queue,
    'messaging.operation.name': 'offer',
  };
}

function ofHandling(queue: string, outcome: string) {
  return {
    'messaging.system': 'delay_queue',
    'messaging.destination.name': queue,
    'messaging.operation.name': 'process',
    'delay_queue.message.outcome': outcome,
  };
}

const countOf = ({ value }: Point) => (typeof value === 'number' ? value : value.count);
const sumOf = ({ value }: Point) => (typeof value === 'number' ? value : value.sum!);

async function untilCounted(metric: string, count: number): Promise<Point[]> {
  let points: Point[] = [];
  await until(async () => {
    points = await telemetry.points(metric);
    return points.reduce((sum, point) => sum + countOf(point), 0) >= count;
  });
  return points;
}

describe('offers', () => {
  test('are counted per message and timed per call', async () => {
    const { queue, producer } = await startApp();
    await producer.offer(queue, {}, '1h');
    await producer.offerMany(queue, [
      { payload: 1, delay: '1h' },
      { payload: 2, delay: '1h' },
    ]);
    expect(await telemetry.points('messaging.client.sent.messages')).toEqual([
      { attributes: ofOffer(queue), value: 3 },
    ]);
    expect(await telemetry.points('messaging.client.operation.duration')).toMatchObject([
      { attributes: { ...ofOffer(queue), 'messaging.operation.type': 'send' }, value: { count: 2 } },
    ]);
  });

  test('are counted with the error code if they fail', async () => {
    const { queue, producer } = await startApp();
    await expect(producer.offer(queue, () => undefined, '1h')).rejects.toThrow();
    expect(await telemetry.points('messaging.client.sent.messages')).toEqual([
      { attributes: { ...ofOffer(queue), 'error.type': 'INVALID_PAYLOAD' }, value: 1 },
    ]);
  });
});

describe('handled messages', () => {
  test('are counted and timed by type, outcome and error', async () => {
    let fails = 1;
    const handle = async () => {
      await sleep(20);
      if (fails-- > 0) throw new TypeError('no');
    };
    const { queue, producer } = await startApp({ handle });
    await producer.offer(queue, {}, 0, { type: 'cancel' });
    const consumed = await untilCounted('messaging.client.consumed.messages', 2);
    const type = { 'delay_queue.message.type': 'cancel' };
    expect(consumed).toEqual([
      { attributes: { ...ofHandling(queue, 'retry'), ...type, 'error.type': 'TypeError' }, value: 1 },
      { attributes: { ...ofHandling(queue, 'ack'), ...type }, value: 1 },
    ]);
    const durations = await telemetry.points('messaging.process.duration');
    expect(durations.map(({ attributes }) => attributes)).toEqual(
      consumed.map(({ attributes }) => ({ ...attributes, 'messaging.operation.type': 'process' })),
    );
    for (const duration of durations) expect(sumOf(duration)).toBeGreaterThanOrEqual(0.019);
  });

  test('are counted without an error if they are deferred', async () => {
    let defers = 1;
    const handle = () => {
      if (defers-- > 0) throw new DeferMessage(1);
    };
    const { queue, producer } = await startApp({ handle });
    await producer.offer(queue, {}, 0);
    expect(await untilCounted('messaging.client.consumed.messages', 2)).toEqual([
      { attributes: ofHandling(queue, 'defer'), value: 1 },
      { attributes: ofHandling(queue, 'ack'), value: 1 },
    ]);
  });

  test('have their lateness measured in seconds', async () => {
    const { queue, producer } = await startApp();
    await producer.pause(queue);
    await producer.offer(queue, {}, 0);
    await sleep(150);
    await producer.resume(queue);
    const [lateness] = await untilCounted('delay_queue.message.lateness', 1);
    // A timer may fire up to a millisecond early.
    expect(sumOf(lateness!)).toBeGreaterThanOrEqual(0.149);
    expect(sumOf(lateness!)).toBeLessThan(5);
  });

  test("are also measured with traces: 'none'", async () => {
    const { queue, producer } = await startApp({ traces: 'none' });
    await producer.offer(queue, {}, 0);
    expect(await untilCounted('messaging.client.consumed.messages', 1)).toHaveLength(1);
    expect(await telemetry.points('messaging.client.sent.messages')).toHaveLength(1);
  });

  test('are measured together under the pattern of their family', async () => {
    const observers = [openTelemetry({ families: ['tenant-*'] })];
    const providers = [handlerOf('tenant-*', () => undefined)];
    const { producer } = await scene.startApp({ module: { store: 'memory', observers }, providers });
    await producer.offer('tenant-1', {}, 0);
    await producer.offer('tenant-2', {}, 0);
    const [point, ...others] = await untilCounted('messaging.client.consumed.messages', 2);
    expect(others).toEqual([]);
    expect(point!.attributes).toMatchObject({ 'messaging.destination.template': 'tenant-*' });
    expect(point!.attributes).not.toHaveProperty('messaging.destination.name');
  });
});

test('an observer created before the SDK is registered measures what happens afterwards', async () => {
  await telemetry.unregister();
  const observers = [openTelemetry()];
  telemetry = new Telemetry();
  telemetry.register();
  const { queue, producer } = await startApp({ module: { store: 'memory', observers } });
  await producer.offer(queue, {}, '1h');
  expect(await telemetry.points('messaging.client.sent.messages')).toHaveLength(1);
  expect(telemetry.spans).toHaveLength(1);
});

test('messages are offered and handled without an SDK as if there were no observer', async () => {
  await telemetry.unregister();
  const { queue, handled, producer, log } = await startApp();
  await producer.offer(queue, {}, 0);
  const { message } = await handled.untilCalls(1);
  expect(message.headers).toEqual({});
  expect(log.filter((line) => line.includes('OpenTelemetry'))).toEqual([]);
});

describe('events', () => {
  test('feed the counters of transfers and of dead letters by cause', async () => {
    const { queue, producer } = await startApp({ handle: () => Promise.reject(new Error('no')) });
    await producer.offer(queue, {}, 1, { type: 'cancel' });
    const attributes = { 'messaging.destination.name': queue };
    expect(await untilCounted('delay_queue.dead_letters.created', 1)).toContainEqual({
      attributes: { ...attributes, 'delay_queue.death.cause': 'handler' },
      value: 1,
    });
    expect(await telemetry.points('delay_queue.messages.transferred')).toEqual([{ attributes, value: 3 }]);
  });

  test('are counted from zero for each handled queue, so that the first one appears as growth', async () => {
    const { queue } = await startApp();
    const [lost, deaths] = await Promise.all([
      telemetry.points('delay_queue.leases.lost'),
      telemetry.points('delay_queue.dead_letters.created'),
    ]);
    expect(lost).toEqual([{ attributes: { 'messaging.destination.name': queue }, value: 0 }]);
    const causes = ['handler', 'reject', 'lease', 'unreadable', 'unknown-type', 'expired'];
    expect(deaths).toEqual(
      causes.map((cause) => ({
        attributes: { 'messaging.destination.name': queue, 'delay_queue.death.cause': cause },
        value: 0,
      })),
    );
  });

  test.each([
    [[], []],
    [['tenant-*'], [{ 'messaging.destination.template': 'tenant-*' }]],
  ])("are counted under a family's pattern only if the families option lists it: %j", async (families, attributes) => {
    const observers = [openTelemetry({ families })];
    const providers = [handlerOf('tenant-*', () => undefined)];
    await scene.startApp({ module: { store: 'memory', observers }, providers });
    const lost = await telemetry.points('delay_queue.leases.lost');
    expect(lost.map((point) => point.attributes)).toEqual(attributes);
  });

  const queue = 'orders';
  const ofOrders = { 'messaging.destination.name': queue };

  test.each<[string, DelayQueueEvent, Point]>([
    [
      'delay_queue.dead_letters.dropped',
      { name: 'dead-letters-dropped', queue, count: 7 },
      { attributes: ofOrders, value: 7 },
    ],
    ['delay_queue.leases.lost', { name: 'lease-lost', queue, id: 'm' }, { attributes: ofOrders, value: 1 }],
    [
      'delay_queue.leases.expired',
      { name: 'leases-expired', queue, recovered: 2, deadLettered: 1 },
      { attributes: ofOrders, value: 3 },
    ],
    [
      'delay_queue.work.failures',
      { name: 'work-failing', work: 'claim', queue, reason: 'READONLY', lasted: 0 },
      { attributes: { ...ofOrders, 'delay_queue.work': 'claim' }, value: 1 },
    ],
    [
      'delay_queue.work.failures',
      { name: 'work-failing', work: 'subscribe', reason: 'READONLY', lasted: 0 },
      { attributes: { 'delay_queue.work': 'subscribe' }, value: 1 },
    ],
  ])('are counted in the metric %s', async (metric, event, point) => {
    openTelemetry().event!(event);
    expect(await telemetry.points(metric)).toEqual([point]);
  });
});
