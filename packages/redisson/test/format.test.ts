import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../../lib/index.js';
import { type EntryFormat, redisson } from '../src/index.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { encodeEntry } from './java/entry.codec.js';
import { Handled } from '../../../test/support/handled.js';
import { redissonQueuesOf } from './redisson-queues.js';
import { Scene } from '../../../test/support/scene.js';
import { handlerOf } from '../../../test/support/test-app.js';

const FAR = Date.now() + 3_600_000;

describe('the format of entries shared with Redisson', () => {
  const scene = new Scene();
  const newQueue = redissonQueuesOf(scene);

  const wired = (format?: EntryFormat): DelayQueueModuleOptions => ({
    defaults: { layout: redisson({ format }) },
  });

  async function offerByJava(queue: string, format: EntryFormat, { due = FAR, count = 1 } = {}): Promise<void> {
    const keys = redissonKeys({ prefix: scene.prefix, queue });
    for (let i = 0; i < count; i++) {
      const id = format === 'dLc0' ? Buffer.alloc(8) : randomBytes(8);
      if (format === 'dLc0') id.writeDoubleLE(Math.random() * 1e18);
      const entry = encodeEntry({ format, id, value: Buffer.from(`{"java":${i}}`) });
      await scene.redis.multi().zadd(keys.timeouts, due, entry).rpush(keys.entries, entry).exec();
    }
  }

  const offered = (queue: string) => scene.redis.zcard(redissonKeys({ prefix: scene.prefix, queue }).timeouts);

  test.each<[own: EntryFormat | undefined, others: EntryFormat]>([
    [undefined, 'dLc0'],
    ['Bc0Lc0', 'dLc0'],
    ['dLc0', 'Bc0Lc0'],
  ])('makes offers and the startup of handlers fail if it is %s while Redisson writes %s', async (own, others) => {
    const queue = newQueue();
    await offerByJava(queue, others);
    const refusal = expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(new RegExp(`${queue}.*Set format: '${others}'`)),
    });
    const { producer } = await scene.startApp({ module: wired(own) });
    await expect(producer.offer(queue, { n: 1 }, '1h')).rejects.toEqual(refusal);
    expect(await offered(queue)).toBe(1);
    const start = scene.startApp({ module: wired(own), providers: [handlerOf(queue, () => undefined)] });
    await expect(start).rejects.toEqual(refusal);

    const fixed = await scene.startApp({ module: wired(others), providers: [handlerOf(queue, () => undefined)] });
    await fixed.producer.offer(queue, { n: 1 }, '1h');
    expect(await offered(queue)).toBe(2);
  });

  test('is compared with entries at the end of a long list as well', async () => {
    const queue = newQueue();
    await offerByJava(queue, 'Bc0Lc0', { count: 120 });
    await offerByJava(queue, 'dLc0');
    const { producer } = await scene.startApp({ module: wired() });
    await expect(producer.offer(queue, { n: 1 }, '1h')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  test.each<[own: EntryFormat, others: EntryFormat]>([
    ['Bc0Lc0', 'dLc0'],
    ['dLc0', 'Bc0Lc0'],
  ])('makes offers fail if it is %s and Redisson begins to write %s after startup', async (own, others) => {
    const queue = newQueue();
    const { producer } = await scene.startApp({
      module: wired(own),
      providers: [handlerOf(queue, () => undefined)],
    });
    await producer.offer(queue, { n: 1 }, '1h', { id: 'before' });
    await producer.cancel(queue, 'before');
    await offerByJava(queue, others);
    for (const onDuplicate of ['keep', 'replace'] as const) {
      await expect(producer.offer(queue, { n: 2 }, '1h', { id: 'a', onDuplicate })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(`Set format: '${others}'`),
      });
    }
    expect(await offered(queue)).toBe(1);
  });

  test('can be set back to the old one after messages were offered in the new one by mistake', async () => {
    const queue = newQueue();
    const mistaken = await scene.startApp({ module: wired() });
    await mistaken.producer.offer(queue, { n: 1 }, '1h');
    await offerByJava(queue, 'dLc0');
    const { producer } = await scene.startApp({
      module: wired('dLc0'),
      providers: [handlerOf(queue, () => undefined)],
    });
    await producer.offer(queue, { n: 2 }, '1h');
    expect(await offered(queue)).toBe(3);
  });

  test('can be changed to the new one once the last message in the old one has been handled', async () => {
    const queue = newQueue();
    const handled = new Handled();
    await offerByJava(queue, 'dLc0', { due: 1 });
    const old = await scene.startApp({ module: wired('dLc0'), providers: [handlerOf(queue, handled.record)] });
    await handled.untilCalls(1);
    await old.close();
    const { producer } = await scene.startApp({ module: wired(), providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, { n: 2 }, 0);
    await handled.untilCalls(2);
    expect(handled.payloads).toEqual([{ java: 0 }, { n: 2 }]);
  });
});
