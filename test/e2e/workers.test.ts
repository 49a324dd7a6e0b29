import { describe, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import { readFileSync } from 'node:fs';
import { RejectMessage, type WorkerReport } from '../../lib/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('the list of workers', () => {
  const scene = new Scene();

  const listed = async (producer: { workers(): Promise<{ workers: readonly WorkerReport[] }> }) =>
    (await producer.workers()).workers;

  test('names each process that handles queues, and no process that only offers', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    expect(await producer.workers()).toEqual({ workers: [], cursor: null });
    const startedAt = Date.now();
    await scene.startApp({
      module: { queues: { [queue]: { concurrency: 3 } } },
      providers: [handlerOf(queue, () => undefined)],
    });
    const other = await scene.startWorker({ queue });
    await until(async () => (await listed(producer)).length === 2);
    const workers = await listed(producer);
    const own = workers.find(({ pid }) => pid === process.pid)!;
    expect(own).toMatchObject({ host: hostname(), version });
    expect(own.queues).toEqual([{ queue, slots: 3, used: 0, handled: 0, failed: 0 }]);
    expect(Math.abs(own.startedAt.getTime() - startedAt)).toBeLessThan(5000);
    expect(Math.abs(own.seenAt.getTime() - Date.now())).toBeLessThan(10_000);
    const theirs = workers.find(({ pid }) => pid !== process.pid)!;
    expect(theirs).toMatchObject({ host: hostname(), version, queues: [{ queue, slots: 16, used: 0 }] });
    expect(theirs.id).not.toBe(own.id);

    await other.end('SIGTERM');
    expect((await listed(producer)).map(({ pid }) => pid)).toEqual([process.pid]);
  });

  test('a process that stops cleanly disappears at once', async () => {
    const { producer } = await scene.startApp({ module: { consume: false } });
    const app = await scene.startApp({ providers: [handlerOf(scene.newQueue(), () => undefined)] });
    await until(async () => (await listed(producer)).length === 1);
    await app.close();
    expect(await listed(producer)).toEqual([]);
  });

  test('a process tells what its handlers of queues and families have done in the last minute, and what they do', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const latch = new Latch();
    const handle = async (task: string) => {
      if (task === 'wait') await latch.opened;
      if (task === 'fail') throw new RejectMessage('unwanted');
    };
    await scene.startApp({
      module: { queues: { [queue]: { concurrency: 5 }, [`${queue}-*`]: { concurrency: 2 } } },
      providers: [handlerOf(queue, handle), handlerOf(`${queue}-*`, handle)],
    });
    const startedAt = Date.now();
    for (const each of [queue, `${queue}-1`, `${queue}-2`]) {
      await producer.offerMany(
        each,
        ['fine', 'fine', 'fail'].map((payload) => ({ payload, delay: 0 })),
      );
    }
    await producer.offer(queue, 'wait', 0, { id: 'waits' });
    await producer.offer(`${queue}-2`, 'wait', 0, { id: 'waits too' });
    // The first report was made before.
    const reported = async () => (await listed(producer))[0]?.queues.every(({ used }) => used > 0) ?? false;
    await until(reported, { within: 30_000 });
    const { queues, seenAt } = (await listed(producer))[0]!;
    latch.open();
    const lateness = { p50: expect.any(Number), p99: expect.any(Number) };
    // The family's queues have had more messages.
    expect(queues).toEqual([
      {
        queue: `${queue}-*`,
        ...{ slots: expect.any(Number), used: 1, handled: 4, failed: 2, lateness },
        longest: { id: 'waits too', type: '', since: expect.any(Date) },
      },
      {
        queue,
        ...{ slots: 5, used: 1, handled: 2, failed: 1, lateness },
        longest: { id: 'waits', type: '', since: expect.any(Date) },
      },
    ]);
    const { since } = queues[1]!.longest!;
    expect(since.getTime()).toBeGreaterThan(startedAt - 1000);
    expect(since.getTime()).toBeLessThan(seenAt.getTime());
    expect(queues[1]!.lateness!.p99).toBeLessThan(5000);
  });

  test('a process with heartbeat: false is not listed', async () => {
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ module: { heartbeat: false }, providers: [handlerOf(scene.newQueue(), () => undefined)] });
    await scene.startApp({ providers: [handlerOf('listed', () => undefined)] });
    await until(async () => (await listed(producer)).length > 0);
    expect((await listed(producer)).map(({ queues }) => queues.map(({ queue }) => queue))).toEqual([['listed']]);
  });
});
