import { describe, expect, test } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { DelayQueue, DelayQueueModule, DelayQueueProducer, payload } from '../../lib/index.js';
import { DelayQueueHealthIndicator, type DelayQueueHealthOptions } from '../../lib/terminus/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const health = { imports: [TerminusModule], providers: [DelayQueueHealthIndicator] };
const NOTHING = { delayed: 0, ready: 0, active: 0, dead: 0, paused: false, overdue: 0 };

describe('the health of an application', () => {
  const scene = new Scene({});

  async function startApp({ providers = [], ...parts }: Parameters<Scene['startApp']>[0] = {}) {
    const app = await scene.startApp({
      ...parts,
      imports: health.imports,
      providers: [...health.providers, ...providers],
    });
    const indicator = app.context.get(DelayQueueHealthIndicator);
    const check = async (options?: DelayQueueHealthOptions) =>
      (await indicator.check('delay-queue', options))['delay-queue'];
    return { ...app, check };
  }

  test('is up, and includes the counts of the queues that it handles', async () => {
    const queue = scene.newQueue();
    const { producer, check } = await startApp({
      providers: [handlerOf(queue, () => undefined), handlerOf('tenant-*', () => undefined)],
    });
    expect(await check()).toEqual({ status: 'up', queues: { [queue]: NOTHING } });
    await producer.offer(queue, 1, '1h');
    expect(await check()).toEqual({ status: 'up', queues: { [queue]: { ...NOTHING, delayed: 1 } } });
  });

  test('is down within the timeout while Redis does not respond, and up again once it does', async () => {
    const { check } = await startApp({ providers: [handlerOf(scene.newQueue(), () => undefined)] });
    await scene.server.freeze();
    const from = performance.now();
    const frozen = await check({ timeout: 300 });
    // A call without a timeout of its own would fail after the 5 s of offerTimeout.
    expect(performance.now() - from).toBeLessThan(4000);
    expect(frozen).toEqual({ status: 'down', message: 'Redis has not answered within 300 ms' });
    await scene.server.thaw();
    await until(async () => (await check()).status === 'up');

    await scene.server.kill9();
    await until(async () => (await check({ timeout: 300 })).status === 'down');
    await scene.server.restart();
    await until(async () => (await check()).status === 'up', { within: 30_000 });
  });

  test('depends on Redis even in a process that handles no queues', async () => {
    const { check } = await startApp();
    expect(await check()).toEqual({ status: 'up', queues: {} });
    await scene.server.freeze();
    expect((await check({ timeout: 300 })).status).toBe('down');
    await scene.server.thaw();
    await until(async () => (await check()).status === 'up');
  });

  test('is degraded, not down, while handlers are stuck and due messages wait', async () => {
    const queue = scene.newQueue();
    const release = new Latch();
    const { producer, check } = await startApp({
      providers: [handlerOf(queue, () => release.opened, { concurrency: 1 })],
    });
    await producer.offer(queue, 1, 0);
    await until(async () => (await producer.counts(queue)).active === 1);
    await producer.offer(queue, 2, 0);
    await until(async () => (await check({ maxOverdue: 200 })).status === 'degraded');
    const { status, message, queues }: Record<string, unknown> = await check({ maxOverdue: 200 });
    expect({ status, message }).toEqual({
      status: 'degraded',
      message: `due messages wait for longer than maxOverdue: ${queue}`,
    });
    expect(queues).toEqual({ [queue]: { ...NOTHING, ready: 1, active: 1, overdue: expect.any(Number) as unknown } });
    expect((queues as Record<string, typeof NOTHING>)[queue]!.overdue).toBeGreaterThan(200);
    expect((await check()).status).toBe('up');
    release.open();
    await until(async () => (await check({ maxOverdue: 0 })).status === 'up');
  });

  test('is degraded while nobody handles a checked queue, unless the queue is paused', async () => {
    class Orders extends DelayQueue(scene.newQueue(), payload<number>()) {}
    const { producer, context, check } = await startApp({ providers: [Orders] });
    const orders = context.get(Orders);
    await orders.offer(1, 0);
    const options = { queues: [Orders], maxOverdue: 50 };
    await until(async () => (await check(options)).status === 'degraded');
    await producer.pause(orders.queue);
    expect(await check(options)).toMatchObject({ status: 'up', queues: { [orders.queue]: { paused: true } } });
  });

  test.each<[object, string]>([
    [{ queues: ['no queue'] }, 'queues.0 a queue name has 1–128'],
    [{ maxOverdue: -1 }, 'maxOverdue'],
    [{ timeout: '1 fortnight' }, 'timeout'],
    [{ maxOverDue: '1m' }, 'maxOverDue is not an option'],
  ])('cannot be checked with invalid options: %j', async (options, problem) => {
    const { check } = await startApp();
    const message: unknown = expect.stringContaining(problem);
    await expect(check(options)).rejects.toMatchObject({ code: 'INVALID_OPTION', message });
  });

  test('is reported over HTTP as 200 while it is up or degraded, and as 503 while it is down', async () => {
    const queue = scene.newQueue();
    @Controller('health')
    class HealthController {
      constructor(
        private readonly checks: HealthCheckService,
        private readonly delayQueue: DelayQueueHealthIndicator,
      ) {}

      @Get()
      @HealthCheck()
      check() {
        const options = { queues: [queue], maxOverdue: 0, timeout: 300 };
        return this.checks.check([() => this.delayQueue.check('delay-queue', options)]);
      }
    }
    @Module({
      imports: [DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix }), TerminusModule],
      controllers: [HealthController],
      providers: [DelayQueueHealthIndicator],
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: false });
    try {
      await app.listen(0, '127.0.0.1');
      const get = async () => {
        const response = await fetch(`${await app.getUrl()}/health`);
        return [response.status, ((await response.json()) as { status: string }).status];
      };
      expect(await get()).toEqual([200, 'ok']);
      await app.get(DelayQueueProducer).offer(queue, 1, 0);
      await until(async () => (await get())[1] === 'degraded');
      expect(await get()).toEqual([200, 'degraded']);
      await scene.server.freeze();
      expect(await get()).toEqual([503, 'error']);
      await scene.server.thaw();
    } finally {
      await app.close();
    }
  });
});
