import { describe, expect, test } from '@jest/globals';
import { calendar } from '../../lib/calendar/index.js';
import { doubles, missing, occurrencesOf } from '../support/occurrences.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

const LEASE = 1000;
const EVERY_SECOND = '* * * * * *';
const EVERY_OTHER_SECOND = '*/2 * * * * *';

describe('a message that repeats', () => {
  const scene = new Scene();
  const module = { calendar, consume: false };
  const settings = (queue: string, cron: string, payload: Task = null) => ({
    queue,
    handler: { lease: LEASE, repeat: { cron, payload } },
  });
  const living = async (queue: string, { producer }: Awaited<ReturnType<Scene['startApp']>>) => {
    const { delayed, ready, active } = await producer.counts(queue);
    return delayed + ready + active;
  };

  test('goes on where killed processes have left it: no occurrence comes twice, and none is missing', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ module });
    const workers: WorkerProcess[] = [];
    const start = async () =>
      workers.push(
        await scene.startWorker(settings(queue, EVERY_SECOND, { do: 'work', ms: 700, firstAttemptOnly: true })),
      );
    await start();
    for (let kills = 0; kills < 4; kills++) {
      const current = workers.at(-1)!;
      // In the middle of a handler: only first attempts take time.
      await until(() => current.of('start').some(({ attempt }) => attempt === 1), { within: 30_000 });
      await current.end('SIGKILL');
      await start();
      expect(await living(queue, app)).toBe(1);
    }
    await until(() => workers.at(-1)!.of('end').length >= 2, { within: 30_000 });
    const started = occurrencesOf(workers);
    expect(doubles(started)).toEqual([]);
    expect(missing(started, 1000)).toEqual([]);
    expect(started.filter(({ attempt }) => attempt === 2).length).toBeGreaterThanOrEqual(2);
  });

  test('goes on after an occurrence that has killed each process that handled it, and leaves its letter', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    const poison = settings(queue, EVERY_SECOND, { do: 'crash' });
    const worker = await scene.startWorker({ ...poison, handler: { ...poison.handler, attempts: 1 } });
    await until(() => worker.of('start').length === 1, { within: 30_000 });
    await worker.end('SIGKILL');
    const [first] = occurrencesOf([worker]);
    const heir = await scene.startWorker({ ...settings(queue, EVERY_SECOND), handler: { lease: LEASE, attempts: 1, repeat: { cron: EVERY_SECOND } } }); // prettier-ignore
    await until(() => heir.of('end').length >= 1, { within: 30_000 });
    const { messages } = await producer.deadLetters(queue).list();
    const id = `{repeat}@${new Date(first!.at).toISOString()}`;
    expect(messages).toMatchObject([{ id, failedAttempts: 1, error: { name: 'LeaseExpired' } }]);
    expect(doubles(occurrencesOf([worker, heir]))).toEqual([]);
    expect(heir.of('start').every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('is one chain while a rolling deploy changes its rule, whatever order old and new processes start in', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ module });
    const start = (cron: string) => scene.startWorker(settings(queue, cron, { do: 'work', ms: 300 }));
    const [one, other] = await Promise.all([start(EVERY_SECOND), start(EVERY_SECOND)]);
    let most = 0;
    let isOver = false;
    const watching = (async () => {
      while (!isOver) most = Math.max(most, await living(queue, app));
    })();
    await until(() => occurrencesOf([one, other]).length >= 2, { within: 30_000 });
    const fresh = [await start(EVERY_OTHER_SECOND)];
    // An old one that had crashed comes back.
    const third = await start(EVERY_SECOND);
    await one.end('SIGTERM');
    fresh.push(await start(EVERY_OTHER_SECOND));
    await other.end('SIGKILL');
    await third.end('SIGTERM');
    const ends = () => fresh.reduce((sum, worker) => sum + worker.of('end').length, 0);
    const before = ends();
    // One with the old rule may be under way, and gives way to the new rule when it ends.
    await until(() => ends() >= before + 4, { within: 30_000 });
    isOver = true;
    await watching;
    const started = occurrencesOf([one, other, third, ...fresh]);
    expect(most).toBe(1);
    expect(doubles(started)).toEqual([]);
    expect(started.slice(-3).map(({ cron }) => cron)).toEqual(Array.from({ length: 3 }, () => EVERY_OTHER_SECOND));
    expect(await app.producer.find(queue, 'repeat')).toMatchObject({ repeat: { cron: EVERY_OTHER_SECOND } });
    expect(missing(started.slice(-3), 2000)).toEqual([]);
  });
});
