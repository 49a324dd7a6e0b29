import { afterEach, describe, expect, test } from '@jest/globals';
import { DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import type { DelayQueueProducer, MessageState } from '../../lib/index.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { RunningBoard } from '../support/board/running-board.js';
import { Handled } from '../support/handled.js';
import { putMessage } from '../support/put-message.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const HEADERS = ['null', '7', '[1]', '["x"]', '"x"', 'true', '{"a":1}', '{"a":null}', '{"a":"b","c":{}}'];

/** Bodies of every form that has headers, with invalid headers. */
const ODD_BODIES = HEADERS.flatMap((headers) =>
  [
    `j${headers}\n{"order":1}`,
    `b${headers}\nbytes`,
    `kcancel\n${headers}\n{"order":1}`,
    `ccancel\n${headers}\nbytes`,
  ].flatMap((body) => [body, `W1700000000000\n${body}`]),
);

describe('messages written by someone else', () => {
  const scene = new Scene();
  let board: RunningBoard | undefined;

  afterEach(async () => {
    await board?.stop();
    board = undefined;
  });

  const keysOf = (queue: string) => nativeKeys(scene.prefix, queue);

  /** The ids that the board shows on one page of a queue. */
  async function idsOnBoard(producer: DelayQueueProducer, queue: string, status: string): Promise<readonly string[]> {
    board = await RunningBoard.start(new DelayQueueBoardAdapter(producer, queue));
    return board.ids(queue, { status, jobsPerPage: 100 });
  }

  async function expectShown(producer: DelayQueueProducer, queue: string, state: MessageState, ids: string[]) {
    const { messages } = await producer.list(queue, state, { limit: 100 });
    expect(messages.map(({ id }) => id).sort()).toEqual(ids.sort());
    const status = state === 'dead' ? 'failed' : state;
    expect([...(await idsOnBoard(producer, queue, status))].sort()).toEqual(ids.sort());
  }

  test('become dead letters without reaching a handler if their headers are invalid', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false } });
    for (const [n, body] of ODD_BODIES.entries())
      await putMessage(scene.redis, keysOf(queue), { id: `odd-${n}`, body });
    await producer.offer(queue, 'sound', 0, { id: 'sound', headers: { tenant: 'acme' } });
    await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await until(async () => (await producer.counts(queue)).dead === ODD_BODIES.length);
    const { messages: letters } = await producer.deadLetters(queue).list({ limit: 100 });
    expect(letters).toHaveLength(ODD_BODIES.length);
    for (const { error, headers, payload } of letters) {
      expect(error).toMatchObject({ name: 'UnreadableBody', message: expect.stringContaining('its headers are') });
      expect(headers).toEqual({});
      expect(Buffer.isBuffer(payload)).toBe(true);
    }
    expect((await handled.until('sound')).message.headers).toEqual({ tenant: 'acme' });
    expect(handled.ids).toEqual(['sound']);
  });

  test('do not hide other messages from a list or the board if their headers are invalid', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const ids = ODD_BODIES.map((_, n) => `odd-${n}`);
    for (const [n, body] of ODD_BODIES.entries()) {
      await putMessage(scene.redis, keysOf(queue), { id: ids[n]!, body, dueAt: Date.now() + HOUR });
    }
    await producer.offer(queue, 'sound', '1h', { id: 'sound', headers: { tenant: 'acme' } });
    await expectShown(producer, queue, 'delayed', [...ids, 'sound']);
    expect(await producer.find(queue, ids[0]!)).toMatchObject({ headers: {}, payload: Buffer.from(ODD_BODIES[0]!) });
    expect(await producer.find(queue, 'sound')).toMatchObject({ headers: { tenant: 'acme' }, payload: 'sound' });
  });

  test('do not hide other messages if they are nested too deeply to be shown, or never fall due', async () => {
    const queue = scene.newQueue();
    const keys = keysOf(queue);
    const { producer } = await scene.startApp({ module: { consume: false } });
    const deep = `J${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    await putMessage(scene.redis, keys, { id: 'deep', body: deep, dueAt: Date.now() + HOUR });
    await putMessage(scene.redis, keys, { id: 'never', body: 'J1', dueAt: Date.now() + HOUR });
    await scene.redis.zadd(keys.delayed, 'inf', 'never');
    await producer.offer(queue, 'sound', '1h', { id: 'sound' });
    await expectShown(producer, queue, 'delayed', ['deep', 'never', 'sound']);
    const { messages } = await producer.list(queue, 'delayed');
    for (const { dueAt } of messages) expect(dueAt.getTime()).not.toBeNaN();
  });

  test('are listed as dead letters even if their error or dead-letter time is invalid', async () => {
    const queue = scene.newQueue();
    const keys = keysOf(queue);
    const { producer } = await scene.startApp({ module: { consume: false } });
    const oddErrors = ['7', 'null', '{"name":"E","message":"m","stack":7}', '{"name":"E","message":"m","stack":["x"]}'];
    for (const [n, error] of oddErrors.entries()) {
      await putMessage(scene.redis, keys, { id: `odd-${n}`, body: 'J1' });
      await scene.redis.multi().zrem(keys.delayed, `odd-${n}`).zadd(keys.dead, n, `odd-${n}`).exec();
      await scene.redis.hset(keys.errors, `odd-${n}`, error);
    }
    await scene.redis.zadd(keys.dead, 'inf', 'odd-0');
    await expectShown(
      producer,
      queue,
      'dead',
      oddErrors.map((_, n) => `odd-${n}`),
    );
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toHaveLength(oddErrors.length);
    for (const { error, diedAt } of letters) {
      expect(typeof (error.stack ?? '')).toBe('string');
      expect(diedAt.getTime()).not.toBeNaN();
    }
  });
});
