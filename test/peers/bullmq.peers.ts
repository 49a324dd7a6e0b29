import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { transform } from '@swc/core';
import ts from 'typescript';
import type { Redis } from 'ioredis';
import type { DelayQueueProducer } from '../../lib/index.js';
import { ROOT } from '../docs/pages.js';
import { Latch } from '../support/latch.js';
import { randomName } from '../support/random-name.js';
import { compiledFolder } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import { type BullQueue, type BullWorker, connection, loadBullMq, type Processor, setClockForward } from './peers.js';

const HOUR = 3_600_000;

const SETTINGS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  types: [],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** What reads one file from memory. */
function hostWith(file: string, text: string): ts.CompilerHost {
  const host = ts.createCompilerHost(SETTINGS);
  return {
    ...host,
    fileExists: (path) => path === file || host.fileExists(path),
    readFile: (path) => (path === file ? text : host.readFile(path)),
    getSourceFile: (path, options) =>
      path === file ? ts.createSourceFile(path, text, options) : host.getSourceFile(path, options),
  };
}

const { Queue, Worker, UnrecoverableError } = loadBullMq();
const open: (BullQueue | BullWorker)[] = [];

function openQueue(name = randomName('jobs')): BullQueue {
  const queue = new Queue(name, { connection: connection() });
  open.push(queue);
  return queue;
}

function startWorker({ name }: BullQueue, processor: Processor, options: object = {}): BullWorker {
  const worker = new Worker(name, processor, { connection: connection(), ...options });
  open.push(worker);
  return worker;
}

afterEach(async () => {
  jest.restoreAllMocks();
  for (const each of open.splice(0).reverse()) await each.close();
});

describe('a BullMQ job', () => {
  test("falls due by the worker's clock, whatever Redis' clock says", async () => {
    const queue = openQueue();
    await queue.add('remind', {}, { delay: HOUR });
    const done = new Latch();
    setClockForward(2 * HOUR);
    startWorker(queue, () => Promise.resolve(done.open()));
    await expect(done.opened).resolves.toBeUndefined();
  });

  test('cannot have an id that is an integer or contains a colon', async () => {
    const queue = openQueue();
    await expect(queue.add('remind', {}, { jobId: '7' })).rejects.toThrow('Custom Id cannot be integers');
    await expect(queue.add('remind', {}, { jobId: 'unpaid:7' })).rejects.toThrow('Custom Id cannot contain :');
  });

  test('keeps its id reserved while it is retained as completed', async () => {
    const queue = openQueue();
    const handled = jest.fn<() => void>();
    startWorker(queue, () => Promise.resolve(handled()));
    await queue.add('remind', {}, { jobId: 'unpaid-7' });
    await until(async () => (await queue.getJobCounts()).completed === 1);
    await queue.add('remind', {}, { jobId: 'unpaid-7' });
    expect(await queue.getJobCounts()).toMatchObject({ completed: 1, waiting: 0, active: 0 });
    expect(handled).toHaveBeenCalledTimes(1);
  });

  test('has one attempt by default, and attemptsMade is 0 when it is first processed', async () => {
    const queue = openQueue();
    const made: number[] = [];
    startWorker(queue, ({ attemptsMade }) => {
      made.push(attemptsMade);
      return Promise.reject(new Error('no'));
    });
    const { id } = await queue.add('remind', {});
    await until(async () => (await queue.getJobCounts()).failed === 1);
    expect(made).toEqual([0]);
    expect(await (await queue.getJob(id!))!.getState()).toBe('failed');
  });

  test('is not retried if it fails with an UnrecoverableError', async () => {
    const queue = openQueue();
    const processor = jest.fn<Processor>().mockRejectedValue(new UnrecoverableError('no such order'));
    startWorker(queue, processor);
    await queue.add('remind', {}, { attempts: 5 });
    await until(async () => (await queue.getJobCounts()).failed === 1);
    expect(processor).toHaveBeenCalledTimes(1);
  });

  test('runs again when it stalls, and fails when it stalls a second time', async () => {
    const queue = openQueue();
    const runs = jest.fn<() => void>();
    const end = new Latch();
    const impatient = { lockDuration: 100, stalledInterval: 100, skipLockRenewal: true, concurrency: 3 };
    startWorker(queue, () => (runs(), end.opened), impatient);
    const { id } = await queue.add('remind', {});
    await until(async () => (await queue.getJobCounts()).failed === 1);
    expect(runs).toHaveBeenCalledTimes(2);
    expect((await queue.getJob(id!))!.failedReason).toContain('stalled more than allowable limit');
    end.open();
  });

  test('is removed by id while it is delayed or waiting, but not while a worker holds it', async () => {
    const queue = openQueue();
    const [started, end] = [new Latch(), new Latch()];
    await queue.add('remind', {}, { jobId: 'job-delayed', delay: HOUR });
    await queue.add('remind', {}, { jobId: 'job-waiting' });
    expect(await queue.remove('job-delayed')).toBe(1);
    expect(await queue.remove('job-waiting')).toBe(1);
    await queue.add('remind', {}, { jobId: 'held' });
    startWorker(queue, () => (started.open(), end.opened));
    await started.opened;
    expect(await queue.remove('held')).toBe(0);
    end.open();
  });

  test('can only be completed by the holder of its lock', async () => {
    const queue = openQueue();
    const [started, end] = [new Latch(), new Latch()];
    const { id } = await queue.add('remind', {});
    startWorker(queue, () => (started.open(), end.opened));
    await started.opened;
    const job = (await queue.getJob(id!))!;
    await expect(job.moveToCompleted('done', 'another-token')).rejects.toThrow(/lock/i);
    end.open();
  });
});

describe('a BullMQ worker', () => {
  test('has the defaults listed in the migration guide', () => {
    const { opts } = startWorker(openQueue(), () => Promise.resolve());
    expect(opts).toMatchObject({ concurrency: 1, lockDuration: 30_000, maxStalledCount: 1 });
  });

  test('shares its rate limit with the other workers of the queue', async () => {
    const queue = openQueue();
    for (let i = 0; i < 3; i++) await queue.add('remind', {});
    const limiter = { max: 1, duration: 60_000 };
    for (let i = 0; i < 2; i++) startWorker(queue, () => Promise.resolve(), { limiter });
    await until(async () => (await queue.getJobCounts()).completed === 1);
    expect(await queue.getRateLimitTtl()).toBeGreaterThan(30_000);
    expect(await queue.getJobCounts()).toMatchObject({ completed: 1, active: 0 });
  });

  test('takes no more jobs than the global concurrency allows', async () => {
    const queue = openQueue();
    await queue.setGlobalConcurrency(1);
    const [started, end] = [new Latch(), new Latch()];
    for (let i = 0; i < 2; i++) startWorker(queue, () => (started.open(), end.opened), { concurrency: 2 });
    for (let i = 0; i < 3; i++) await queue.add('remind', {});
    await started.opened;
    expect(await queue.getJobCounts()).toMatchObject({ active: 1, waiting: 2 });
    end.open();
  });

  test('passes a signal to its processor', async () => {
    const queue = openQueue();
    let given: AbortSignal | undefined;
    startWorker(queue, (_job, _token, signal) => Promise.resolve(void (given = signal)));
    await queue.add('remind', {});
    await until(() => given !== undefined);
    expect(given!.aborted).toBe(false);
  });

  test('waits for its jobs when it closes, however long they take', async () => {
    const queue = openQueue();
    const [started, end] = [new Latch(), new Latch()];
    const worker = startWorker(queue, () => (started.open(), end.opened));
    await queue.add('remind', {});
    await started.opened;
    const closed = jest.fn<() => void>();
    const closing = worker.close().then(closed);
    await queue.getJobCounts();
    expect(closed).not.toHaveBeenCalled();
    end.open();
    await closing;
  });
});

test('the @nestjs/bullmq code in the migration guide compiles', async () => {
  const page = await readFile(path.join(ROOT, 'docs/migrating-from-bullmq.md'), 'utf8');
  const [, code] = /^```typescript\n(.*?)^```$/ms.exec(page)!;
  const file = path.join(ROOT, 'bench/nestjs-bullmq/shown.ts');
  const program = ts.createProgram([file], { ...SETTINGS }, hostWith(file, code!));
  expect(ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText)).toEqual([]);
}, 60_000);

/** Loads a function that a page shows. */
async function loadFunction<Shown>(page: string, name: string): Promise<Shown> {
  const text = await readFile(path.join(ROOT, 'docs', page), 'utf8');
  const snippets = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
  const snippet = snippets.find((code) => code.includes(`function ${name}(`));
  const { code } = await transform(snippet!, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } });
  const file = path.join(compiledFolder(), `${randomName('move')}.mjs`);
  await writeFile(file, code);
  return ((await import(file)) as Record<string, Shown>)[name]!;
}

describe('moveDelayedJobs from the migration guide', () => {
  const scene = new Scene();

  type Move = (old: BullQueue, redis: Redis, producer: DelayQueueProducer) => Promise<{ moved: number; left: number }>;

  test('moves jobs with their due times, data and names, skips those due soon, and may run again', async () => {
    const moveDelayedJobs = await loadFunction<Move>('migrating-from-bullmq.md', 'moveDelayedJobs');
    const queue = openQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const before = Date.now();
    for (let i = 0; i < 600; i++)
      await queue.add('remind', { i }, { delay: HOUR + i, ...(i % 2 === 0 && { jobId: `job-${i}` }) });
    await queue.add('remind', {}, { jobId: 'soon', delay: 30_000 });
    await (await queue.getJob('job-0'))!.changeDelay(3 * HOUR);

    expect(await moveDelayedJobs(queue, scene.redis, producer)).toEqual({ moved: 600, left: 1 });
    expect(await moveDelayedJobs(queue, scene.redis, producer)).toEqual({ moved: 0, left: 1 });

    expect(await queue.getJobCounts()).toMatchObject({ delayed: 1 });
    expect(await producer.counts(queue.name)).toMatchObject({ delayed: 600 });
    const found = await producer.find(queue.name, 'job-2');
    expect(found).toMatchObject({ type: 'remind', payload: { i: 2 } });
    expect(found!.dueAt.getTime()).toBeGreaterThanOrEqual(before + HOUR);
    expect(found!.dueAt.getTime()).toBeLessThan(Date.now() + HOUR + 3);
    const changed = await producer.find(queue.name, 'job-0');
    expect(changed!.dueAt.getTime()).toBeGreaterThanOrEqual(before + 3 * HOUR);
    await queue.obliterate({ force: true });
  });
});

describe('copyToBullMq from the page about moving a queue', () => {
  const scene = new Scene();

  type Copy = (producer: DelayQueueProducer, name: string, target: BullQueue) => Promise<void>;

  test('copies each message once, with its type, payload and due time, to a worker that handles it', async () => {
    const copyToBullMq = await loadFunction<Copy>('moving.md', 'copyToBullMq');
    const [queue, { producer }] = [openQueue(), await scene.startApp({ module: { consume: false } })];
    const at = new Date(Date.now() + 24 * HOUR);
    const numbers = Array.from({ length: 1200 }, (_, i) => i);
    await producer.offerMany(
      queue.name,
      numbers.map((i) => ({ id: `${i}`, type: i % 2 === 0 ? 'remind' : undefined, payload: { i }, at })),
    );
    const similar = ['a:b', 'a-b', 'a%3Ab', 'a b/ü€😀'];
    for (const id of similar) await producer.offer(queue.name, { id }, '2s', { id, type: 'soon' });

    await copyToBullMq(producer, queue.name, queue);
    await copyToBullMq(producer, queue.name, queue);

    expect(await queue.getJobCounts()).toMatchObject({ delayed: 1204 });
    const jobs = await queue.getDelayed(0, 2000);
    const copied = jobs.filter(({ name }) => name !== 'soon');
    expect(copied.map(({ name, data }) => ({ name, data })).sort((a, b) => numberOf(a) - numberOf(b))).toEqual(
      numbers.map((i) => ({ name: i % 2 === 0 ? 'remind' : 'message', data: { i } })),
    );
    for (const { timestamp, delay } of copied) expect(Math.abs(timestamp + delay - at.getTime())).toBeLessThan(1000);
    const handled: unknown[] = [];
    startWorker(queue, (job) => Promise.resolve(handled.push((job.data as { id: string }).id)));
    await until(() => handled.length === similar.length);
    expect(handled.sort()).toEqual(similar.sort());
    await queue.obliterate({ force: true });
  });

  const numberOf = ({ data }: { readonly data: unknown }) => (data as { i: number }).i;
});
