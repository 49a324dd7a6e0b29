import { afterEach, describe, expect, test } from '@jest/globals';
import { DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import { redissonKeys } from '../src/redisson-keys.js';
import { encodeEntry } from './java/entry.codec.js';
import { RunningBoard } from '../../../test/support/board/running-board.js';
import { Scene } from '../../../test/support/scene.js';
import { redisson } from '../src/index.js';

describe('a queue shared with Java on bull-board', () => {
  const scene = new Scene();
  const queue = scene.newQueue();
  const keys = redissonKeys({ prefix: scene.prefix, queue });

  let board: RunningBoard | undefined;

  // Redisson's keys have no prefix.
  afterEach(async () => {
    await board?.stop();
    board = undefined;
    await scene.redis.unlink(Object.values(keys) as string[]);
  });

  test("shows Java's messages without ids, and skips them when all messages are promoted or removed", async () => {
    const { producer } = await scene.startApp({ module: { defaults: { layout: redisson({ codec: 'string' }) } } });
    board = await RunningBoard.start(new DelayQueueBoardAdapter(producer, queue));
    const dueAt = Date.now() + 7_200_000;
    const entry = encodeEntry({ format: 'Bc0Lc0', id: Buffer.alloc(8, 1), value: Buffer.from('from Java') });
    await scene.redis.multi().zadd(keys.timeouts, dueAt, entry).rpush(keys.entries, entry).exec();
    await producer.offer(queue, 'ours', '1h', { id: 'a' });

    const { jobs } = await board.queue(queue, { status: 'delayed' });
    expect(jobs.map(({ id, data }) => ({ id, data }))).toEqual([
      { id: 'a', data: 'ours' },
      { id: '', data: 'from Java' },
    ]);
    expect(await board.put(`${queue}/promote`)).toMatchObject({ status: 200 });
    expect((await producer.find(queue, 'a'))!.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await board.put(`${queue}/clean/delayed`)).toMatchObject({ status: 200 });
    expect(await board.ids(queue, { status: 'delayed' })).toEqual(['']);
  });

  test('shows an integer beyond the safe range as a string, and still shows the other messages', async () => {
    const { producer } = await scene.startApp({ module: { defaults: { layout: redisson({ codec: 'kryo5' }) } } });
    board = await RunningBoard.start(new DelayQueueBoardAdapter(producer, queue));
    await producer.offer(queue, { order: 2n ** 60n }, '1h', { id: 'a' });
    await producer.offer(queue, { order: 7 }, '2h', { id: 'b' });
    const { jobs } = await board.queue(queue, { status: 'delayed' });
    expect(jobs.map(({ id, data }) => ({ id, data }))).toEqual([
      { id: 'a', data: { order: '1152921504606846976' } },
      { id: 'b', data: { order: 7 } },
    ]);
  });
});
