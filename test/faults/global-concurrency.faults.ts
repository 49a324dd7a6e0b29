import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

const LIMIT = 4;
const LEASE = 1500;
/** A second for the check of a scheduler, its grace period, and time for a busy machine. */
const SOON = 6000;

const handler = { globalConcurrency: LIMIT, lease: LEASE, concurrency: 16 };

describe('a global concurrency when processes fail', () => {
  const scene = new Scene();

  const ends = (workers: readonly WorkerProcess[]) => workers.flatMap((worker) => worker.of('end'));

  /** The most handlers that ran at once. */
  function mostAtOnce(workers: readonly WorkerProcess[]): number {
    const runs = ends(workers);
    return Math.max(
      ...runs.map(
        ({ startedAt }) => runs.filter((run) => run.startedAt <= startedAt && startedAt < run.endedAt).length,
      ),
    );
  }

  test('what a killed worker held counts until its lease ends, and then others handle all of it', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const doomed = await scene.startWorker({ queue, handler });
    const first: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
    const offers = Array.from({ length: 3 * LIMIT }, (_, i) => ({ payload: i < LIMIT ? first : null, delay: i }));
    await producer.offerMany(queue, offers);
    await until(() => doomed.of('start').length === LIMIT, { within: SOON });
    const others = await Promise.all([scene.startWorker({ queue, handler }), scene.startWorker({ queue, handler })]);
    await doomed.end('SIGKILL');
    const killedAt = Date.now();
    expect(others.flatMap((worker) => worker.of('start'))).toEqual([]);
    await until(() => ends(others).length === 3 * LIMIT, { within: LEASE + SOON });
    const firstAt = Math.min(...ends(others).map(({ startedAt }) => startedAt));
    // The last extension of the lease may be a third of it old.
    expect(firstAt - killedAt).toBeGreaterThan(LEASE / 2);
    expect(mostAtOnce(others)).toBeLessThanOrEqual(LIMIT);
  });

  test('workers that are killed right after each outcome stop nobody and never let the limit be exceeded', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const survivor = await scene.startWorker({ queue, handler });
    const task: Task = { do: 'work', ms: 20 };
    const all = 40;
    await producer.offerMany(
      queue,
      Array.from({ length: all }, () => ({ payload: task, delay: 0 })),
    );
    const doomed: WorkerProcess[] = [];
    for (let kill = 0; kill < 3; kill++) {
      const worker = await scene.startWorker({ queue, handler });
      doomed.push(worker);
      await until(
        async () => {
          // The other worker may take all messages of an offer.
          await producer.offerMany(
            queue,
            Array.from({ length: 10 }, () => ({ payload: task, delay: 0 })),
          );
          return worker.of('end').length > 0;
        },
        { within: SOON, every: 100 },
      );
      await worker.end('SIGKILL');
    }
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0), {
      within: LEASE + 3 * SOON,
    });
    expect(mostAtOnce([survivor, ...doomed])).toBeLessThanOrEqual(LIMIT);
  });

  test('a lost wake-up signal delays the next message by a few seconds at most', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { ...handler, globalConcurrency: 1 } };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    // Takes the signals of workers that are killed before they can claim.
    const thief = scene.redis.duplicate();
    let stolen = 0;
    const stealing = (async () => {
      for (; stolen < 4; stolen++) await thief.blpop(scene.key(queue, 'wake'), 0);
    })();
    const task: Task = { do: 'work', ms: 50 };
    await producer.offerMany(
      queue,
      Array.from({ length: 12 }, () => ({ payload: task, delay: 0 })),
    );
    await until(() => ends(workers).length === 12, { within: 4 * SOON });
    await stealing;
    thief.disconnect();
    expect(mostAtOnce(workers)).toBe(1);
  });
});
