import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer, Duration } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Repeats an offer until it succeeds. */
const offerPatiently = (producer: DelayQueueProducer, queue: string, delay: Duration, id = 'any') =>
  until(() =>
    producer.offer(queue, null, delay, { id }).then(
      () => true,
      () => false,
    ),
  );

describe('outages of Redis', () => {
  const scene = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });

  test('an application starts while Redis is down and begins to work when Redis is back', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    await scene.server.kill9();
    const { producer, log } = await scene.startApp({
      providers: [handlerOf(queue, handled.record)],
    });
    const offered = producer.offer(queue, 'waits for Redis', 0);
    await until(() => log.some((line) => line.startsWith('error')));

    await scene.server.restart();
    const { id } = await offered;
    await handled.until(id);
    expect(log.some((line) => line.includes('is back'))).toBe(true);
  });

  test.each(['with a handler', 'without a handler'])(
    'an application %s closes soon after its shutdownTimeout while Redis is down',
    async (kind) => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const { producer, log, close } = await scene.startApp({
        module: { shutdownTimeout: 500 },
        providers: kind === 'with a handler' ? [handlerOf(queue, handled.record)] : [],
      });
      await producer.offer(queue, null, '1h');
      await scene.server.kill9();
      try {
        await until(() => log.some((line) => line.includes('ECONNREFUSED')));
        const start = performance.now();
        let closed = false;
        void close().then(() => (closed = true));
        await until(() => closed, { within: 30_000 });
        // The default timeout is 10 s.
        expect(performance.now() - start).toBeLessThan(8000);
      } finally {
        await scene.server.restart();
      }
    },
  );

  test('offers made while Redis is down soon fail with NOT_CONNECTED', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { offerTimeout: 300 } });
    await producer.offer(queue, null, '1h');
    await scene.server.kill9();
    try {
      const codes = new Set<string>();
      const start = performance.now();
      await until(async () => {
        await producer.offer(queue, null, '1h').catch((error: { code: string }) => codes.add(error.code));
        return codes.has('NOT_CONNECTED');
      });
      expect(performance.now() - start).toBeLessThan(5000);
      expect([...codes].every((code) => ['NOT_CONNECTED', 'OUTCOME_UNKNOWN'].includes(code))).toBe(true);
    } finally {
      await scene.server.restart();
    }
  });

  test('messages are handled on time after a crash and a restart that keeps the data', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, null, 50, { id: 'before' });
    await handled.until('before');
    await producer.offer(queue, null, 150, { id: 'meanwhile' });
    await producer.offer(queue, null, 2500, { id: 'after' });

    await scene.server.kill9();
    await sleep(600);
    await scene.server.restart();

    await handled.until('meanwhile', { within: 30_000 });
    const { late } = await handled.until('after');
    expect(late).toBeGreaterThanOrEqual(0);
    // The next check would come a minute later.
    expect(late).toBeLessThan(5000);
    await until(() => isEmpty(producer, queue));
    expect(handled.ids).toEqual(['before', 'meanwhile', 'after']);
  });

  test('each connection logs the start and the end of an outage once, however many calls fail', async () => {
    const queues = Array.from({ length: 5 }, () => scene.newQueue());
    const { producer, log } = await scene.startApp({
      module: { offerTimeout: 300, defaults: { blockTimeout: '1s', checkInterval: '1s' } },
      providers: queues.map((queue) => handlerOf(queue, () => undefined)),
    });
    for (const queue of queues) await offerPatiently(producer, queue, '1h');
    const linesOf = (level: string) =>
      log.filter((line) => line.startsWith(level) && !/Handling|Connected to|SIGTERM/.test(line)).sort();
    const connections = ['announcements', 'commands', 'wake-signals'];
    await scene.server.kill9();
    try {
      // Time for a dozen failures of each connection.
      await sleep(4000);
      const all = [...linesOf('error'), ...linesOf('warn')];
      // A call that is on its way when the server is killed fails for another reason than those after it.
      expect(new Set(all).size).toBe(all.length);
      const roles = all.map((line) => /^error Redis connection for (\S+) is down: /.exec(line)?.[1] ?? line);
      expect([...new Set(roles)]).toEqual(connections);
    } finally {
      await scene.server.restart();
    }
    await until(() => linesOf('log').length >= connections.length);
    expect(linesOf('log')).toEqual(connections.map((role) => `log Redis connection for ${role} is back`));
  });

  test('work resumes soon even after a long outage', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    // Short timeouts, so that calls fail as often in a few seconds as otherwise in minutes.
    const module = { offerTimeout: 200, defaults: { blockTimeout: '1s' } };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await offerPatiently(producer, queue, 2000, 'm');
    await scene.server.kill9();
    // If pauses between failed claims doubled, the next one would now last about five seconds.
    await sleep(7500);
    await scene.server.restart();
    const start = performance.now();
    await handled.until('m');
    const took = Math.round(performance.now() - start);
    console.log(`after a long outage a message was handled ${took} ms after Redis answered`);
    expect(took).toBeLessThan(3500);
  });

  test('new messages are handled after a restart that loses the data', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, null, '1h', { id: 'lost' });
    // Empties the server, as if it had restarted without its data.
    await Promise.all([scene.redis.flushall(), scene.redis.script('FLUSH')]);
    await scene.server.restart();

    await offerPatiently(producer, queue, 100, 'new');
    await handled.until('new');
    expect(await producer.find(queue, 'lost')).toBeNull();
  });
});
