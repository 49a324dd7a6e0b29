import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const MESSAGES = 40;
const LEASE = 2000;
/** The promise is the lease and 2 s; the rest is for a busy machine. */
const TAKEN_OVER_WITHIN = LEASE + 2000 + 3000;

describe('workers that are killed, stopped or blocked', () => {
  const scene = new Scene();
  const allGone = (counts: object) => Object.values(counts).every((count) => count === 0);

  test('another worker handles the messages of a killed one soon after the lease ends, as a second attempt', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { lease: LEASE, concurrency: 32 } };
    const doomed = await scene.startWorker(settings);
    const task: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
    const offers = Array.from({ length: MESSAGES }, () => ({ payload: task, delay: 0 }));
    const results = await producer.offerMany(queue, offers);
    await until(() => doomed.of('start').length === 32);
    const held = new Set(doomed.of('start').map(({ id }) => id));
    const other = await scene.startWorker({ queue, handler: { lease: LEASE, concurrency: 64 } });
    await until(() => other.of('start').length === MESSAGES - 32);

    await doomed.end('SIGKILL');
    const killedAt = Date.now();
    const again = () => other.of('end').filter(({ id }) => held.has(id));
    await until(() => again().length >= held.size, { within: TAKEN_OVER_WITHIN });
    const latency = Date.now() - killedAt;

    console.log(`handled again ${latency} ms after the kill, with a lease of ${LEASE} ms`);
    expect(again()).toHaveLength(32);
    expect(again().every(({ attempt }) => attempt === 2)).toBe(true);
    expect(doomed.of('end')).toEqual([]);
    expect(new Set([...held, ...other.of('start').map(({ id }) => id)]).size).toBe(results.length);
  });

  test('a killed worker is listed for at most 30 s', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const doomed = await scene.startWorker({ queue });
    await scene.startWorker({ queue });
    const count = async () => (await producer.workers()).workers.length;
    await until(async () => (await count()) === 2);
    await doomed.end('SIGKILL');
    const killedAt = Date.now();
    expect(await count()).toBe(2);
    await until(async () => (await count()) === 1, { within: 32_000 });
    const lasted = Date.now() - killedAt;
    console.log(`no longer listed ${lasted} ms after the kill`);
    expect(lasted).toBeLessThan(31_000);
    expect(await count()).toBe(1);
  });

  test('a message that kills its process every time becomes a dead letter, and others are handled', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { lease: 1000, attempts: 2 } };
    const poison: Task = { do: 'crash' };
    await producer.offer(queue, poison, 0, { id: 'poison' });
    for (let attempt = 1; attempt <= 2; attempt++) {
      const worker = await scene.startWorker(settings);
      await until(() => worker.of('start').length === 1, { within: 30_000 });
      expect(worker.of('start')).toMatchObject([{ id: 'poison', attempt }]);
      await worker.end('SIGKILL');
    }
    const survivor = await scene.startWorker(settings);
    await producer.offer(queue, null, 0, { id: 'fine' });
    await until(() => survivor.of('end').length === 1);
    await until(async () => (await producer.find(queue, 'poison'))?.state === 'dead', { within: 30_000 });

    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toMatchObject([{ id: 'poison', failedAttempts: 2, error: { name: 'LeaseExpired' } }]);
    expect(survivor.of('start').map(({ id }) => id)).toEqual(['fine']);
  });

  test('messages with their own attempts that kill their process have as many, not those of their queue', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { lease: 1000, attempts: 2 } };
    const poison: Task = { do: 'crash' };
    const starts: string[] = [];
    const letters = async () => (await producer.deadLetters(queue).list()).messages;
    const killUntil = async (dead: number) => {
      while ((await letters()).length < dead) {
        const worker = await scene.startWorker(settings);
        await until(async () => worker.of('start').length > 0 || (await letters()).length === dead, { within: 30_000 });
        starts.push(...worker.of('start').map(({ id, attempt }) => `${id} ${attempt}`));
        await worker.end('SIGKILL');
      }
    };
    await producer.offer(queue, poison, 0, { id: 'once', attempts: 1 });
    await killUntil(1);
    await producer.offer(queue, poison, 0, { id: 'thrice', attempts: 3 });
    await killUntil(2);
    expect(starts).toEqual(['once 1', 'thrice 1', 'thrice 2', 'thrice 3']);
    expect(await letters()).toMatchObject([
      { id: 'once', attempts: 1, failedAttempts: 1, error: { name: 'LeaseExpired' } },
      { id: 'thrice', attempts: 3, failedAttempts: 3, error: { name: 'LeaseExpired' } },
    ]);
  });

  test('messages that fell due while there was no consumer are handled when one starts', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const first = await scene.startWorker({ queue });
    const offers = Array.from({ length: MESSAGES }, (_, i) => ({ payload: null, delay: i * 20 }));
    await producer.offerMany(queue, offers);
    await until(() => first.of('end').length > 0);
    await first.end('SIGTERM');
    const second = await scene.startWorker({ queue });
    await until(async () => allGone(await producer.counts(queue)));
    expect(first.of('end').length + second.of('end').length).toBe(MESSAGES);
    expect([...first.of('start'), ...second.of('start')].every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('a worker whose event loop blocks beyond the lease loses its message, and its late outcome is refused', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { lease: 1000, concurrency: 1 } };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    const task: Task = { do: 'block', ms: 3500, firstAttemptOnly: true };
    await producer.offer(queue, task, 0, { id: 'm' });
    await until(() => workers.some((worker) => worker.of('start').length === 1));
    const [stalled, other] = workers[0].of('start').length === 1 ? workers : [workers[1], workers[0]];
    await until(() => other.of('end').length === 1, { within: 15_000 });
    expect(other.of('end')).toMatchObject([{ id: 'm', attempt: 2 }]);
    // The same id again, so that a late outcome would show if it counted.
    await until(async () => (await producer.offer(queue, null, '1h', { id: 'm' })).created);

    await until(() => stalled.log.includes('lease was lost'), { within: 15_000 });
    expect(stalled.of('start')).toHaveLength(1);
    expect(await producer.find(queue, 'm')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
    expect(await producer.counts(queue)).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
  });
});
