import { describe, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import { readFileSync } from 'node:fs';
import type { WorkerReport } from '../../lib/index.js';
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

  test('a process with heartbeat: false is not listed', async () => {
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ module: { heartbeat: false }, providers: [handlerOf(scene.newQueue(), () => undefined)] });
    await scene.startApp({ providers: [handlerOf('listed', () => undefined)] });
    await until(async () => (await listed(producer)).length > 0);
    expect((await listed(producer)).map(({ queues }) => queues.map(({ queue }) => queue))).toEqual([['listed']]);
  });
});
