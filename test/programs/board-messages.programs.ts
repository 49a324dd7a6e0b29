import { afterEach, describe, expect, test } from '@jest/globals';
import { addDelayQueues, type BoardQueue, DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import { z } from 'zod';
import { DelayQueue } from '../../lib/index.js';
import { RunningBoard } from '../support/board/running-board.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';

describe('a message added on bull-board', () => {
  const scene = new Scene();
  const typedQueue = randomName('orders');
  class Orders extends DelayQueue(typedQueue, { cancel: z.object({ orderId: z.string() }) }) {}
  let board: RunningBoard | undefined;

  async function start(queue: BoardQueue = scene.newQueue()) {
    const { producer } = await scene.startApp();
    const adapter = new DelayQueueBoardAdapter(producer, queue);
    board = await RunningBoard.start(adapter);
    return { queue: adapter.getName(), producer, board };
  }

  afterEach(async () => {
    await board?.stop();
    board = undefined;
  });

  test('has the type, payload and options entered in the form', async () => {
    const { queue, producer, board } = await start();
    const options = { delay: 60_000, jobId: 'a', headers: { tenant: 'acme' } };
    const { status, body } = await board.add(queue, { name: 'cancel', data: { orderId: '7' }, options });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'delayed', job: { id: 'a', name: 'cancel', data: { orderId: '7' } } });
    const { dueAt, offeredAt, ...message } = (await producer.find(queue, 'a'))!;
    expect(message).toMatchObject({ type: 'cancel', payload: { orderId: '7' }, headers: { tenant: 'acme' } });
    expect(Math.round((dueAt.getTime() - offeredAt.getTime()) / 1000)).toBe(60);
  });

  test('has no type if the form has no name, and is due at once if the form has no delay', async () => {
    const { queue, producer, board } = await start();
    const { body } = await board.add(queue, { name: '__default__', data: [1], options: {} });
    const { type, payload, dueAt, offeredAt } = (await producer.find(queue, body.job.id))!;
    expect({ type, payload }).toEqual({ type: '', payload: [1] });
    expect(dueAt.getTime() - offeredAt.getTime()).toBeLessThan(100);
  });

  test('can be a duplicate of another message', async () => {
    const { queue, producer, board } = await start();
    await producer.offer(queue, { n: 1 }, '1h', { type: 'count', id: 'a', headers: { tenant: 'acme' } });
    const { name, data, opts: options } = (await board.queue(queue)).jobs[0]!;
    const { body } = await board.add(queue, { name, data, options });
    expect(body.job.id).not.toBe('a');
    expect(await producer.find(queue, body.job.id)).toMatchObject({
      type: 'count',
      payload: { n: 1 },
      headers: { tenant: 'acme' },
      state: 'delayed',
    });
  });

  test('has the group given in the form, which its duplicates share', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { queues: { [queue]: { groups: {} } } } });
    board = await RunningBoard.start(new DelayQueueBoardAdapter(producer, queue));
    const options = { delay: 60_000, jobId: 'a', group: 'customer-7' };
    expect(await board.add(queue, { name: '', data: {}, options })).toMatchObject({ status: 200 });
    const { opts } = (await board.queue(queue)).jobs[0]!;
    expect(opts).toMatchObject({ group: 'customer-7' });
    const { body } = await board.add(queue, { name: '', data: {}, options: opts });
    expect(await producer.find(queue, body.job.id)).toMatchObject({ group: 'customer-7' });
  });

  test('has the attempts and the backoff given in the form, which its duplicates share', async () => {
    const { queue, producer, board } = await start();
    const backoff = { type: 'fixed', delay: 5000, jitter: 0 };
    const options = { delay: 60_000, jobId: 'a', attempts: 3, backoff };
    expect(await board.add(queue, { name: '', data: {}, options })).toMatchObject({ status: 200 });
    const { opts } = (await board.queue(queue)).jobs[0]!;
    expect(opts).toMatchObject({ attempts: 3, backoff });
    const { body } = await board.add(queue, { name: '', data: {}, options: opts });
    expect(await producer.find(queue, body.job.id)).toMatchObject({ attempts: 3, backoff });
  });

  test('is refused with options that messages do not support', async () => {
    const { queue, producer, board } = await start();
    const options = { delay: 60_000, lifo: true, priority: 1 };
    const known = 'delay, jobId, headers, group, attempts, backoff';
    expect(await board.add(queue, { name: '', data: {}, options })).toMatchObject({
      status: 400,
      body: { message: `A message has no option lifo, priority. Its options are ${known}.` },
    });
    expect((await producer.counts(queue)).delayed).toBe(0);
  });

  test('is refused if its id is already in use', async () => {
    const { queue, producer, board } = await start();
    await producer.offer(queue, 'first', '1h', { id: 'a' });
    expect(await board.add(queue, { name: '', data: 'second', options: { jobId: 'a' } })).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/'a'/) },
    });
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 'first' });
  });

  test('is refused by a typed queue whose schema rejects it', async () => {
    const app = await scene.startApp({ providers: [Orders] });
    const { board } = await start(app.context.get(Orders));
    expect(await board.add(typedQueue, { name: 'cancel', data: { orderId: 7 }, options: {} })).toMatchObject({
      status: 400,
      body: { message: `payload of type 'cancel' of queue '${typedQueue}': the schema refuses payload.orderId` },
    });
    expect(await board.add(typedQueue, { name: 'rename', data: {}, options: {} })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('has the types cancel') },
    });
    const valid = { name: 'cancel', data: { orderId: '7' }, options: { jobId: 'a', delay: 60_000 } };
    expect(await board.add(typedQueue, valid)).toMatchObject({ status: 200 });
    expect(await board.patch(`${typedQueue}/a/update-data`, { jobData: { orderId: 8 } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('the schema refuses payload.orderId') },
    });
    expect(await board.patch(`${typedQueue}/a/update-data`, { jobData: { orderId: '8' } })).toMatchObject({
      status: 200,
    });
  });

  test('may be added to a queue that is declared as a class', async () => {
    const { queue, board } = await start(Orders);
    expect(queue).toBe(typedQueue);
    expect((await board.queue(typedQueue)).name).toBe(typedQueue);
    const valid = { name: 'cancel', data: { orderId: '7' }, options: { delay: 60_000 } };
    expect(await board.add(typedQueue, valid)).toMatchObject({ status: 200 });
  });
});

describe('addDelayQueues()', () => {
  const scene = new Scene();

  test('adds every queue that messages were ever offered to', async () => {
    const { producer } = await scene.startApp();
    const names = Array.from({ length: 120 }, () => scene.newQueue()).sort();
    await Promise.all(names.map((name) => producer.offer(name, {}, '1h')));
    const board = await RunningBoard.start();
    expect(await addDelayQueues(board.board, producer, { readOnlyMode: true })).toEqual(names);
    const queues = await board.queues();
    expect(queues.map(({ name }) => name).sort()).toEqual(names);
    expect(queues.every(({ readOnlyMode, counts }) => readOnlyMode && counts.delayed === 1)).toBe(true);
    await board.stop();
  });
});
