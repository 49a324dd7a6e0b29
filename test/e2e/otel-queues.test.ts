import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { diag, type DiagLogger, DiagLogLevel } from '@opentelemetry/api';
import { setTimeout as sleep } from 'node:timers/promises';
import { observeQueues } from '../../lib/otel/index.js';
import { Latch } from '../support/latch.js';
import { Telemetry } from '../support/otel/telemetry.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const scene = new Scene();
let telemetry: Telemetry;
let complaints: string[];

beforeEach(() => {
  telemetry = new Telemetry();
  telemetry.register();
  complaints = [];
  const error: DiagLogger['error'] = (message) => complaints.push(message);
  const ignore = () => undefined;
  const logger = { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
});

afterEach(async () => {
  await telemetry.unregister();
  diag.disable();
});

/** The numbers of messages by queue and state. */
async function messagesByState(): Promise<Record<string, unknown>> {
  const points = await telemetry.points('delay_queue.queue.messages');
  const nameOf = (attributes: (typeof points)[number]['attributes']) =>
    `${String(attributes['messaging.destination.name'])} ${String(attributes['delay_queue.message.state'])}`;
  return Object.fromEntries(points.map(({ attributes, value }) => [nameOf(attributes), value]));
}

test('messages of a queue are measured by state at collection time', async () => {
  const queue = scene.newQueue();
  const latch = new Latch();
  const providers = [handlerOf(queue, (dies) => (dies ? Promise.reject(new Error('no')) : latch.opened))];
  const defaults = { attempts: 1, concurrency: 1 };
  const { producer, context } = await scene.startApp({ module: { store: 'memory', defaults }, providers });
  observeQueues(context, [queue]);
  expect(await messagesByState()).toEqual({
    [`${queue} delayed`]: 0,
    [`${queue} ready`]: 0,
    [`${queue} active`]: 0,
    [`${queue} dead`]: 0,
  });
  await producer.offer(queue, true, 0);
  await until(async () => (await producer.counts(queue)).dead === 1);
  await producer.offer(queue, false, 0);
  await until(async () => (await producer.counts(queue)).active === 1);
  for (const delay of [0, 0, '1h', '1h', '1h'] as const) await producer.offer(queue, false, delay);
  await until(async () => (await producer.counts(queue)).ready === 2);
  expect(await messagesByState()).toEqual({
    [`${queue} delayed`]: 3,
    [`${queue} ready`]: 2,
    [`${queue} active`]: 1,
    [`${queue} dead`]: 1,
  });
  latch.open();
});

const overdue = async () => (await telemetry.points('delay_queue.queue.overdue'))[0]!.value;
const paused = async () => (await telemetry.points('delay_queue.queue.paused'))[0]!.value;

test('a queue that no process handles is overdue from the due time of its next message', async () => {
  const queue = scene.newQueue();
  const { producer, context } = await scene.startApp();
  observeQueues(context, [queue]);
  expect(await overdue()).toBe(0);
  await producer.offer(queue, {}, '1h', { id: 'm' });
  expect(await overdue()).toBe(0);
  await producer.reschedule(queue, 'm', 0);
  await sleep(100);
  expect(await overdue()).toBeGreaterThanOrEqual(0.099);
  expect(await overdue()).toBeLessThan(10);
});

test('a paused queue is measured as paused, and is overdue from the due time of its oldest ready message', async () => {
  const queue = scene.newQueue();
  const { producer, context } = await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
  observeQueues(context, [queue]);
  await producer.pause(queue);
  await producer.offer(queue, {}, 0);
  await until(async () => (await producer.counts(queue)).ready === 1);
  await sleep(100);
  expect(await overdue()).toBeGreaterThanOrEqual(0.099);
  expect(await paused()).toBe(1);
  await producer.resume(queue);
  expect(await paused()).toBe(0);
  await until(async () => (await overdue()) === 0);
});

/** An application whose queues have such states. */
function appWith(statusOf: (queue: string) => Promise<unknown>): Parameters<typeof observeQueues>[0] {
  const queues = { named: (queue: string) => ({ store: { status: () => statusOf(queue) } }) };
  return { get: () => [{ name: '', queues }] as never };
}

test('a queue that cannot be queried is reported, and the other queues are measured', async () => {
  const counts = { delayed: 1, ready: 2, active: 3, dead: 4 };
  const status = { counts, now: 0, nextDue: null, oldestReady: null, paused: false };
  const app = appWith((queue) => (queue === 'good' ? Promise.resolve(status) : Promise.reject(new Error('WRONGTYPE'))));
  observeQueues(app, ['bad', 'good']);
  expect(await messagesByState()).toEqual({ 'good delayed': 1, 'good ready': 2, 'good active': 3, 'good dead': 4 });
  expect(complaints).toEqual([expect.stringContaining('the state of queue bad cannot be measured: Error: WRONGTYPE')]);
});

test('an ended observation sends no queries', async () => {
  let asked = 0;
  const end = observeQueues(
    appWith(() => {
      asked++;
      return Promise.reject(new Error());
    }),
    ['orders'],
  );
  end();
  await telemetry.metrics();
  expect(asked).toBe(0);
});

test('an observation ends when the application closes', async () => {
  const { context, close } = await scene.startApp();
  observeQueues(context, [scene.newQueue()]);
  await close();
  await telemetry.metrics();
  await telemetry.metrics();
  expect(complaints).toEqual([]);
});

test('a malformed queue name is refused immediately', async () => {
  const { context } = await scene.startApp({ module: { store: 'memory' } });
  expect(() => observeQueues(context, ['or{}ders'])).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});
