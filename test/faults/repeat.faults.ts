import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Injectable, type Provider } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, type QueueOptions } from '../../lib/index.js';
import { calendar } from '../../lib/calendar/index.js';
import { doubles, missing, occurrencesOf } from '../support/occurrences.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

const LEASE = 1000;
const EVERY_SECOND = '* * * * * *';
const EVERY_OTHER_SECOND = '*/2 * * * * *';

describe('a repeating message', () => {
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

  test('continues after processes are killed, without repeating or skipping an occurrence', async () => {
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

  test('leaves a dead letter for an occurrence whose process is killed, and continues', async () => {
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

  test('remains a single message while a rolling deploy changes its rule, in whatever order processes start', async () => {
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
    // An old process that had crashed comes back.
    const third = await start(EVERY_SECOND);
    await one.end('SIGTERM');
    fresh.push(await start(EVERY_OTHER_SECOND));
    await other.end('SIGKILL');
    await third.end('SIGTERM');
    const ends = () => fresh.reduce((sum, worker) => sum + worker.of('end').length, 0);
    const before = ends();
    // An occurrence of the old rule may be under way; the new rule follows when it ends.
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

describe('a rule with a limit, and a pause', () => {
  const scene = new Scene();

  test('a limit is kept, and no occurrence is counted twice, while processes are killed in the middle of handlers', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const workers = [await scene.startWorker({ module: {}, queue, handler: { lease: LEASE } })];
    const limit = 5;
    const task: Task = { do: 'work', ms: 700, firstAttemptOnly: true };
    await producer.repeat(queue, 'r', { every: 1000, missed: 'each', limit }, task);
    for (let kills = 0; kills < 2; kills++) {
      const current = workers.at(-1)!;
      await until(() => current.of('start').some(({ attempt }) => attempt === 1), { within: 30_000 });
      await current.end('SIGKILL');
      workers.push(await scene.startWorker({ module: {}, queue, handler: { lease: LEASE } }));
    }
    await until(async () => (await producer.find(queue, 'r')) === null, { within: 60_000 });
    const started = occurrencesOf(workers);
    expect(doubles(started)).toEqual([]);
    const times = [...new Set(started.map(({ at }) => at))];
    // With 'each', not a single one is left out.
    expect(times).toEqual(Array.from({ length: limit }, (_, i) => times[0]! + i * 1000));
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('a pause outlives the process that handles the message, and those that declare its rule anew', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const repeats = producer.repeats(queue);
    const payload: Task = { do: 'work', ms: 700, firstAttemptOnly: true };
    const settings = (every: number) => ({ module: {}, queue, handler: { lease: LEASE, repeat: { every, payload } } });
    const first = await scene.startWorker(settings(1000));
    await until(() => first.of('start').length === 1, { within: 30_000 });
    expect(await repeats.pause('repeat')).toBe(true);
    await first.end('SIGKILL');
    const heirs = [await scene.startWorker(settings(1000)), await scene.startWorker(settings(2000))];
    // The occurrence that had begun ends, and the rule of the deploy follows it.
    await until(async () => (await repeats.find('repeat'))?.repeat.every === 2000, { within: 30_000 });
    await until(async () => (await repeats.find('repeat'))?.dueAt.getUTCFullYear() === 9999, { within: 30_000 });
    await sleep(2500);
    const started = occurrencesOf([first, ...heirs]);
    expect(new Set(started.map(({ at }) => at)).size).toBe(1);
    expect(await repeats.resume('repeat')).toBe(true);
    await until(() => occurrencesOf(heirs).some(({ at }) => at > started[0]!.at), { within: 30_000 });
  });
});

describe('repeating messages when Redis loses its data', () => {
  // In memory only, so that it is empty when it starts again.
  const scene = new Scene({});
  /** The check interval, ms. */
  const CHECKS = 1000;

  /** A process whose handler declares a repeat; `comes` waits for the next occurrence. */
  async function startRepeating(queue: string, options: QueueOptions = {}, other: Provider[] = []) {
    const times: number[] = [];
    @Injectable()
    class Handler {
      @DelayedHandler(queue, { repeat: { cron: EVERY_SECOND }, ...options })
      handle(_: unknown, { dueAt }: DelayedMessage): void {
        times.push(dueAt.getTime());
      }
    }
    const app = await scene.startApp({
      module: { calendar, defaults: { checkInterval: CHECKS } },
      providers: [Handler, ...other],
    });
    return {
      app,
      comes: () => {
        const before = times.length;
        return until(() => times.length > before, { within: 10_000 });
      },
    };
  }
  const losses: [string, () => Promise<unknown>][] = [
    ['FLUSHALL', () => scene.redis.flushall()],
    ['a restart without its data', () => scene.server.kill9().then(() => scene.server.restart())],
  ];

  test.each(losses)('are restored if handlers declare them: %s', async (_how, lose) => {
    const queue = scene.newQueue();
    const { app, comes } = await startRepeating(queue);
    await comes();
    await lose();
    await comes();
    await comes();
    expect((await app.producer.counts(queue)).delayed).toBeLessThanOrEqual(1);
    const words = `${queue}: the message 'repeat', which repeats for its handler, was lost with Redis' data`;
    expect(app.log.filter((line) => line.includes(words))).toHaveLength(1);
  });

  test.each<[string, QueueOptions]>([
    ['with partitions', { partitions: 3 }],
    ['with groups', { groups: { concurrency: 1 } }],
  ])('are restored in a queue %s', async (_what, options) => {
    const queue = scene.newQueue();
    const { app, comes } = await startRepeating(queue, options);
    await comes();
    await scene.redis.flushall();
    await comes();
    await comes();
    expect(await app.producer.find(queue, 'repeat')).toMatchObject({ repeat: { cron: EVERY_SECOND } });
  });

  test('are restored in a queue whose name belongs to a family', async () => {
    const family = scene.newQueue();
    const queue = `${family}:digest`;
    const { app, comes } = await startRepeating(queue, {}, [handlerOf(`${family}:*`, () => undefined)]);
    await comes();
    await scene.redis.flushall();
    await comes();
    await comes();
    expect(await app.producer.find(queue, 'repeat')).toMatchObject({ repeat: { cron: EVERY_SECOND } });
  });

  test('are offered again only once, even if several processes declare them', async () => {
    const queue = scene.newQueue();
    const [one, other] = [await startRepeating(queue, { concurrency: 1 }), await startRepeating(queue)];
    await scene.redis.flushall();
    await Promise.race([one.comes(), other.comes()]);
    // Each process has checked by then.
    for (let seconds = 0; seconds < 3; seconds++) await Promise.race([one.comes(), other.comes()]);
    const { delayed, ready, active } = await one.app.producer.counts(queue);
    expect(delayed + ready + active).toBeLessThanOrEqual(1);
  });

  test.each<[string, (app: TestApp, queue: string) => Promise<unknown>]>([
    ['cancelled', ({ producer }, queue) => producer.cancel(queue, 'repeat')],
    ['cleared', ({ producer }, queue) => producer.clear(queue)],
  ])('are not restored if they were %s', async (_how, end) => {
    const queue = scene.newQueue();
    const { app, comes } = await startRepeating(queue);
    await comes();
    await end(app, queue);
    const looks = async () => callsOf(await scene.redis.info('commandstats'), 'hexists');
    const before = await looks();
    await until(async () => (await looks()) >= before + 3, { within: 10_000 });
    expect(await app.producer.find(queue, 'repeat')).toBeNull();
  });
});

/** How often a command has run. */
function callsOf(stats: string, command: string): number {
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
}
