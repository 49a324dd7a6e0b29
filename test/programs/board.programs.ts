import { afterEach, describe, expect, test } from '@jest/globals';
import { type BoardAdapterOptions, DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import { calendar } from '../../lib/calendar/index.js';
import type { DelayedMessage, DelayQueueProducer, MessageCounts } from '../../lib/index.js';
import type { BoardJob } from '../support/board/board-client.js';
import { RunningBoard } from '../support/board/running-board.js';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

describe.each([
  ['a queue', 1],
  ['a queue of 8 partitions', 8],
])('%s on bull-board', (_, partitions) => {
  const scene = new Scene();
  let board: RunningBoard | undefined;

  interface OnBoard {
    readonly queue: string;
    readonly producer: DelayQueueProducer;
    readonly board: RunningBoard;
    counts(): Promise<MessageCounts>;
  }

  /** Starts an application and a board with one queue. */
  async function start(parts: TestAppParts = {}, options?: BoardAdapterOptions, queue = scene.newQueue()) {
    const { producer } = await scene.startApp({ ...parts, module: { defaults: { partitions } } });
    board = await RunningBoard.start(new DelayQueueBoardAdapter(producer, queue, options));
    return { queue, producer, board, counts: () => producer.counts(queue) } satisfies OnBoard;
  }

  /** The same, with a handler. */
  function startHandling(handle: (payload: string, message: DelayedMessage<string>) => unknown): Promise<OnBoard> {
    const queue = scene.newQueue();
    return start({ providers: [handlerOf(queue, handle, { attempts: 1, concurrency: 1 })] }, {}, queue);
  }

  /** Starts an application that has a message in each state, with the state's name as its id. */
  async function startWithAllStates(): Promise<OnBoard & { release(): void }> {
    const release = new Latch();
    const on = await startHandling(async (payload) => {
      if (payload === 'dies') throw new TypeError('no such order');
      await release.opened;
    });
    await on.producer.offer(on.queue, 'dies', 0, { id: 'dead' });
    await until(async () => (await on.counts()).dead === 1);
    await on.producer.offer(on.queue, 'runs', 0, { id: 'active' });
    await until(async () => (await on.counts()).active === 1);
    await on.producer.offer(on.queue, 'waits', 0, { id: 'ready' });
    await until(async () => (await on.counts()).ready === 1);
    await on.producer.offer(on.queue, 'later', '1h', { id: 'delayed' });
    return { ...on, release: () => release.open() };
  }

  afterEach(async () => {
    await board?.stop();
    board = undefined;
  });

  test('shows the statuses that its messages can have, with the number of messages in each', async () => {
    const { queue, board, release } = await startWithAllStates();
    const shown = await board.queue(queue);
    expect(shown.statuses).toEqual(['latest', 'active', 'waiting', 'failed', 'delayed']);
    expect(shown.counts).toMatchObject({ active: 1, waiting: 1, failed: 1, delayed: 1, completed: 0 });
    expect(shown.jobs.map(({ id }) => id)).toEqual(['active', 'ready', 'dead', 'delayed']);
    expect(await board.ids(queue, { status: 'active' })).toEqual(['active']);
    expect(await board.ids(queue, { status: 'waiting' })).toEqual(['ready']);
    expect(await board.ids(queue, { status: 'failed' })).toEqual(['dead']);
    expect(await board.ids(queue, { status: 'delayed' })).toEqual(['delayed']);
    expect(await board.ids(queue, { status: 'completed' })).toEqual([]);
    release();
  });

  test('lists its messages in pages', async () => {
    const { queue, producer, board } = await start();
    const ids = Array.from({ length: 25 }, (_, i) => `m${String(i).padStart(2, '0')}`);
    await producer.offerMany(
      queue,
      ids.map((id, i) => ({ payload: i, delay: 3_600_000 + i * 1000, id })),
    );
    const pages = await Promise.all([1, 2, 3, 4].map((page) => board.ids(queue, { status: 'delayed', page })));
    expect(pages).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20), []]);
    expect((await board.queue(queue, { status: 'delayed' })).pagination.pageCount).toBe(3);
  });

  test('shows full pages even if messages are large', async () => {
    const { queue, producer, board } = await start();
    const ids = Array.from({ length: 20 }, (_, i) => `m${String(i).padStart(2, '0')}`);
    const payload = 'x'.repeat(200_000);
    await producer.offerMany(
      queue,
      ids.map((id, i) => ({ payload, delay: 3_600_000 + i * 1000, id })),
    );
    expect((await producer.list(queue, 'delayed')).messages.length).toBeLessThan(20);
    expect(await board.ids(queue, { status: 'delayed', jobsPerPage: 20 })).toEqual(ids);
  });

  test('shows a message with its payload, headers and due time', async () => {
    const { queue, producer, board } = await start();
    const headers = { tenant: 'acme' };
    await producer.offer(queue, { orderId: 7 }, '1h', { id: 'a', type: 'cancel', headers });
    await producer.offer(queue, Buffer.from('bytes'), '1h', { id: 'b' });
    const { dueAt, offeredAt } = (await producer.find(queue, 'a'))!;
    const { body } = await board.get<{ job: BoardJob; status: string }>(`${queue}/a`);
    expect(body.status).toBe('delayed');
    expect(body.job).toMatchObject({ id: 'a', name: 'cancel', data: { orderId: 7 }, attempts: 0, failedReason: '' });
    expect(body.job.opts).toEqual({ delay: dueAt.getTime() - offeredAt.getTime(), headers });
    expect(body.job.timestamp).toBe(offeredAt.getTime());
    expect(body.job.timestamp + body.job.delay).toBe(dueAt.getTime());
    const bytes = await board.get<{ job: BoardJob }>(`${queue}/b`);
    expect(bytes.body.job).toMatchObject({ name: '__default__', data: { base64: 'Ynl0ZXM=' } });
    expect(await board.get(`${queue}/c`)).toMatchObject({ status: 404 });
  });

  test('shows the rule of a repeating message and removes it', async () => {
    const { queue, board } = await start();
    const { producer } = await scene.startApp({ module: { calendar, consume: false, defaults: { partitions } } });
    const { dueAt } = await producer.repeat(queue, 'yearly', { cron: '0 0 1 1 *' }, { of: 'sales' });
    const [job] = (await board.queue(queue)).jobs;
    const repeat = { cron: '0 0 1 1 *', timeZone: 'UTC', missed: 'once' };
    expect(job).toMatchObject({ id: 'yearly', data: { of: 'sales' }, opts: { repeat } });
    expect(job!.timestamp + job!.delay).toBe(dueAt.getTime());
    expect((await board.put(`${queue}/yearly/clean`)).status).toBe(204);
    expect(await producer.find(queue, 'yearly')).toBeNull();
  });

  test('shows a dead letter with its error', async () => {
    const { queue, producer, board, release } = await startWithAllStates();
    const { body } = await board.get<{ job: BoardJob; status: string }>(`${queue}/dead`);
    expect(body.status).toBe('failed');
    expect(body.job).toMatchObject({ attempts: 1, failedReason: 'TypeError: no such order' });
    expect(body.job.stacktrace[0]).toContain('TypeError: no such order\n    at ');
    const { dueAt, diedAt } = (await producer.find(queue, 'dead'))!;
    expect(body.job.processedOn).toBe(dueAt.getTime());
    expect(body.job.finishedOn).toBe(diedAt!.getTime());
    release();
  });

  test('handles a promoted message at once', async () => {
    const handled = new Handled();
    const { queue, producer, board } = await startHandling(handled.record);
    await producer.offer(queue, 'now', '1h', { id: 'a' });
    await producer.offer(queue, 'later', '1h', { id: 'b' });
    expect(await board.put(`${queue}/a/promote`)).toMatchObject({ status: 204 });
    await handled.untilCalls(1);
    expect(handled.payloads).toEqual(['now']);
    expect(await board.ids(queue)).toEqual(['b']);
  });

  test('makes all delayed messages due when all are promoted', async () => {
    const { queue, producer, board, counts } = await start();
    const messages = Array.from({ length: 1500 }, (_, i) => ({ payload: i, delay: 3_600_000 + i }));
    await producer.offerMany(queue, messages);
    expect(await board.put(`${queue}/promote`)).toMatchObject({ status: 200 });
    expect((await producer.nextDue(queue))!.getTime()).toBeLessThanOrEqual(Date.now());
    expect((await counts()).delayed).toBe(1500);
    const last = (await producer.list(queue, 'delayed', { offset: 1499 })).messages[0]!;
    expect(last.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('reschedules a delayed message, and refuses to reschedule a dead letter', async () => {
    const { queue, producer, board, release } = await startWithAllStates();
    const runAt = Date.now() + 7_200_000;
    expect(await board.patch(`${queue}/delayed/delay`, { runAt })).toMatchObject({ status: 200 });
    const { dueAt } = (await producer.find(queue, 'delayed'))!;
    expect(Math.abs(dueAt.getTime() - runAt)).toBeLessThan(1000);
    expect(await board.patch(`${queue}/dead/delay`, { runAt })).toMatchObject({
      status: 400,
      body: { error: { key: 'ERRORS.JOB_NOT_DELAYED' } },
    });
    release();
  });

  test('explains that a message cannot be promoted unless it is delayed', async () => {
    const { queue, board, release } = await startWithAllStates();
    expect(await board.put(`${queue}/ready/promote`)).toMatchObject({
      status: 409,
      body: { message: "Message 'ready' is no longer delayed: it has fallen due or was removed." },
    });
    release();
  });

  test('handles dead letters again when one or all are retried', async () => {
    const handled = new Handled();
    let broken = true;
    const { queue, producer, board, counts } = await startHandling((payload, message) => {
      if (broken) throw new Error('broken');
      handled.record(payload, message);
    });
    await producer.offerMany(
      queue,
      ['a', 'b', 'c'].map((id) => ({ id, payload: id, delay: 0 })),
    );
    await until(async () => (await counts()).dead === 3);
    broken = false;
    expect(await board.put(`${queue}/b/retry`)).toMatchObject({ status: 204 });
    await handled.untilCalls(1);
    expect(handled.payloads).toEqual(['b']);
    expect(await board.put(`${queue}/retry/failed`)).toMatchObject({ status: 200, body: { retried: 2, skipped: 0 } });
    await handled.untilCalls(3);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('removes delayed messages and dead letters, and explains why it cannot remove others', async () => {
    const { queue, board, counts, release } = await startWithAllStates();
    expect(await board.put(`${queue}/delayed/clean`)).toMatchObject({ status: 204 });
    expect(await board.put(`${queue}/dead/clean`)).toMatchObject({ status: 204 });
    expect(await board.put(`${queue}/ready/clean`)).toMatchObject({
      status: 409,
      body: { message: "Message 'ready' has fallen due. Only delayed messages and dead letters can be removed." },
    });
    expect(await board.put(`${queue}/active/clean`)).toMatchObject({
      status: 409,
      body: { error: { key: 'ERRORS.JOB_IS_ACTIVE' } },
    });
    expect(await counts()).toEqual({ delayed: 0, ready: 1, active: 1, dead: 0 });
    release();
  });

  test('removes all delayed messages or all dead letters', async () => {
    const { queue, producer, board, counts, release } = await startWithAllStates();
    await producer.offerMany(
      queue,
      Array.from({ length: 1500 }, (_, i) => ({ payload: i, delay: '1h' })),
    );
    expect(await board.put(`${queue}/clean/delayed`)).toMatchObject({ status: 200 });
    expect(await counts()).toEqual({ delayed: 0, ready: 1, active: 1, dead: 1 });
    expect(await board.put(`${queue}/clean/failed`)).toMatchObject({ status: 200 });
    expect(await board.put(`${queue}/clean/wait`)).toMatchObject({
      status: 400,
      body: { message: 'Only delayed messages and dead letters can be removed.' },
    });
    expect(await counts()).toEqual({ delayed: 0, ready: 1, active: 1, dead: 0 });
    release();
  });

  test('is paused and resumed', async () => {
    const { queue, producer, board } = await start();
    expect(await board.put(`${queue}/pause`)).toMatchObject({ status: 200 });
    expect(await producer.isPaused(queue)).toBe(true);
    expect(await board.queue(queue)).toMatchObject({ isPaused: true });
    expect(await board.put(`${queue}/resume`)).toMatchObject({ status: 200 });
    expect(await producer.isPaused(queue)).toBe(false);
    await board.put('pause');
    expect(await producer.isPaused(queue)).toBe(true);
  });

  test('can be obliterated when paused, but only with force while a message is being handled', async () => {
    const { queue, producer, board, counts, release } = await startWithAllStates();
    expect(await board.put(`${queue}/obliterate`)).toMatchObject({ status: 400 });
    await producer.pause(queue);
    expect(await board.put(`${queue}/obliterate`)).toMatchObject({
      status: 409,
      body: { error: { key: 'ERRORS.QUEUE_HAS_ACTIVE_JOBS' } },
    });
    expect((await counts()).delayed).toBe(1);
    expect(await board.put(`${queue}/obliterate`, { force: true })).toMatchObject({ status: 200 });
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    release();
  });

  test('cannot be changed in read-only mode', async () => {
    const { queue, producer, board } = await start({}, { readOnlyMode: true, displayName: 'Orders' });
    await producer.offer(queue, {}, '1h', { id: 'a' });
    expect(await board.queue(queue)).toMatchObject({ readOnlyMode: true, displayName: 'Orders' });
    for (const path of ['a/promote', 'a/clean', 'clean/delayed', 'pause', 'promote']) {
      expect(await board.put(`${queue}/${path}`)).toMatchObject({ status: 405 });
    }
    expect((await producer.counts(queue)).delayed).toBe(1);
  });

  test('explains what a delay queue cannot do', async () => {
    const { queue, producer, board } = await start();
    await producer.offer(queue, { n: 1 }, '1h', { id: 'a' });
    expect(await board.put(`${queue}/empty`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('Ready messages cannot be removed on their own.') },
    });
    expect(await board.put(`${queue}/concurrency`, { concurrency: 5 })).toMatchObject({
      status: 400,
      body: { message: 'The concurrency of a queue is an option of its handlers.' },
    });
    expect(await board.patch(`${queue}/a/priority`, { priority: 1 })).toMatchObject({ status: 400 });
    expect((await producer.find(queue, 'a'))!.payload).toEqual({ n: 1 });
  });

  test('changes the payload of a delayed message and keeps its due time', async () => {
    const { queue, producer, board, release } = await startWithAllStates();
    const { dueAt } = (await producer.find(queue, 'delayed'))!;
    expect(await board.patch(`${queue}/delayed/update-data`, { jobData: { n: 2 } })).toMatchObject({ status: 200 });
    expect(await producer.find(queue, 'delayed')).toMatchObject({ payload: { n: 2 }, dueAt });
    const before = (await producer.find(queue, 'ready'))!.payload;
    expect(await board.patch(`${queue}/ready/update-data`, { jobData: { n: 2 } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Only the payload of a delayed message can be changed.') },
    });
    expect((await producer.find(queue, 'ready'))!.payload).toEqual(before);
    await producer.offer(queue, Buffer.from('bytes'), '1h', { id: 'bytes' });
    expect(await board.patch(`${queue}/bytes/update-data`, { jobData: {} })).toMatchObject({
      status: 400,
      body: { message: 'A payload of bytes cannot be changed here.' },
    });
    release();
  });

  test('shows nothing for features that a delay queue lacks', async () => {
    const { queue, producer, board } = await start();
    await producer.offer(queue, {}, '1h', { id: 'a' });
    expect(await board.get(`${queue}/a/logs`)).toEqual({ status: 200, body: [] });
    expect(await board.get(`${queue}/metrics`)).toEqual({ status: 200, body: { completed: null, failed: null } });
    expect(await board.get(`${queue}/workers`)).toEqual({ status: 200, body: { workers: null } });
    expect(await board.get(`${queue}/a/flow`)).toMatchObject({ status: 200, body: { isFlowNode: false } });
    expect(await board.put(`${queue}/job-schedulers/x/remove`)).toMatchObject({ status: 404 });
    expect(await board.put(`${queue}/job-schedulers/x/run`)).toMatchObject({ status: 405 });
  });
});
