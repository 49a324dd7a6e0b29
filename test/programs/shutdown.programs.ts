import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

describe('SIGTERM', () => {
  const scene = new Scene();

  async function startQueue(shutdownTimeout: number) {
    const queue = scene.newQueue();
    const settings = { queue, handler: { lease: 3000, concurrency: 4 }, module: { shutdownTimeout } };
    const [{ producer }, worker] = await Promise.all([
      scene.startApp({ module: { consume: false } }),
      scene.startWorker(settings),
    ]);
    const offer = (task: Task, id: string) => producer.offer(queue, task, 0, { id });
    return { queue, settings, producer, worker, offer };
  }

  async function terminate(worker: { end(signal: 'SIGTERM'): Promise<void> }): Promise<number> {
    const start = performance.now();
    await worker.end('SIGTERM');
    return performance.now() - start;
  }

  test('lets running handlers finish and make offers, leaves other messages to other processes and ends the process', async () => {
    const { queue, settings, producer, worker, offer } = await startQueue(5000);
    for (let i = 0; i < 4; i++) await offer({ do: 'work-past-sigterm', ms: 300 }, `m${i}`);
    await until(() => worker.of('start').length === 4);
    for (let i = 0; i < 4; i++) await offer(null, `m${i}-next`);
    const took = await terminate(worker);

    expect(took).toBeLessThan(5000);
    expect(
      worker
        .of('end')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['m0', 'm1', 'm2', 'm3']);
    for (let i = 0; i < 4; i++) {
      expect(await producer.find(queue, `m${i}`)).toBeNull();
      expect(await producer.find(queue, `m${i}-after`)).toMatchObject({ state: 'delayed' });
    }

    // The next process gets what this one did not claim, with no attempt spent.
    const next = await scene.startWorker(settings);
    await until(() => next.of('end').length === 4);
    await until(async () => (await producer.counts(queue)).active === 0);
    expect(
      next
        .of('start')
        .map(({ id, attempt }) => `${id} ${attempt}`)
        .sort(),
    ).toEqual(['m0-next 1', 'm1-next 1', 'm2-next 1', 'm3-next 1']);
  });

  test('ends an idle process at once', async () => {
    const { worker } = await startQueue(5000);
    // It must not wait for its shutdown timeout.
    expect(await terminate(worker)).toBeLessThan(4500);
    expect(worker.log).toBe('');
  });

  test('makes a worker wait at most shutdownTimeout for a handler that never returns, whose message is then handled again', async () => {
    const { settings, worker, offer } = await startQueue(600);
    await offer({ do: 'hang', firstAttemptOnly: true }, 'hangs');
    await until(() => worker.of('start').length === 1);
    const took = await terminate(worker);

    expect(took).toBeGreaterThanOrEqual(590);
    expect(took).toBeLessThan(600 + 4000);
    expect(worker.log).toContain('not settled within shutdownTimeout');

    const next = await scene.startWorker(settings);
    await until(() => next.of('end').length === 1, { within: 15_000 });
    expect(next.of('end')).toMatchObject([{ id: 'hangs', attempt: 2 }]);
  });

  test('aborts the signal of a running handler, and costs no attempt if the handler stops in time', async () => {
    const { queue, settings, producer, worker, offer } = await startQueue(3000);
    await offer({ do: 'work-until-aborted', firstAttemptOnly: false }, 'long');
    await until(() => worker.of('start').length === 1);
    const took = await terminate(worker);

    expect(worker.of('aborted')).toMatchObject([{ id: 'long', attempt: 1 }]);
    expect(took).toBeLessThan(3000 + 4000);
    expect(worker.log).not.toContain('not settled');
    expect(await producer.find(queue, 'long')).toMatchObject({ failedAttempts: 0 });

    const next = await scene.startWorker(settings);
    await until(() => next.of('start').length === 1);
    expect(next.of('start')).toMatchObject([{ id: 'long', attempt: 1 }]);
  });
});

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('an application that stops, on %s', (_, store) => {
  const scene = new Scene();
  const clock = /until (\S+) \(shutdownTimeout\)/;

  /** Starts an application whose handlers of so many queues run until they are released, each with one message. */
  async function startBusy(count: number, shutdownTimeout: number) {
    const queues = Array.from({ length: count }, () => scene.newQueue());
    let started = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const app = await scene.startApp({
      module: { ...store, shutdownTimeout },
      providers: queues.map((queue) =>
        handlerOf(queue, async () => {
          started++;
          await released;
        }),
      ),
    });
    for (const queue of queues) await app.producer.offer(queue, 1, 0);
    await app.producer.offer(queues[0]!, 2, 0);
    await until(() => started === count + 1);
    return { queues, release, ...app };
  }

  test('logs which queues and messages it waits for, and until when', async () => {
    const { queues, release, log, close } = await startBusy(2, 10_000);
    const from = Date.now();
    const closed = close();
    await until(() => log.some((line) => clock.test(line)));
    const to = Date.now();
    release();
    await closed;

    const lines = log.filter((line) => line.includes('hutdown') || line.includes('Shutting'));
    const counts = `their messages: 2 of ${queues[0]!}, 1 of ${queues[1]!}`;
    expect(lines).toEqual([expect.stringMatching(/^log Shutting down: waiting for running handlers until /)]);
    expect(lines[0]!.endsWith(counts)).toBe(true);
    const instant = Date.parse(clock.exec(lines[0]!)![1]!);
    expect(instant).toBeGreaterThanOrEqual(from + 10_000);
    expect(instant).toBeLessThanOrEqual(to + 10_000);
  });

  test('logs the fate of unfinished handlers in one line, however many queues there are', async () => {
    const { queues, release, log, close } = await startBusy(7, 200);
    await close();
    release();

    const lines = log.filter((line) => line.includes('shutdownTimeout'));
    expect(lines).toEqual([
      expect.stringMatching(/^log Shutting down: waiting .*, and those of 2 more queues$/),
      expect.stringMatching(/^warn 8 messages were not settled within shutdownTimeout; they are delivered again when /),
    ]);
    expect(lines[1]).toContain(`expire: 2 of ${queues[0]!}, 1 of `);
    expect(lines[1]).toMatch(/, and those of 2 more queues$/);
  });

  test('logs nothing about handlers if none is running', async () => {
    const { log, close } = await scene.startApp({
      module: { ...store },
      providers: [handlerOf(scene.newQueue(), () => undefined)],
    });
    await close();
    expect(log.filter((line) => line.includes('Shutting') || line.includes('shutdownTimeout'))).toEqual([]);
  });
});
