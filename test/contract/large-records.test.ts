import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { watchCommands } from '../support/redis/watch-commands.js';
import { until } from '../support/until.js';
import { HOUR, type QueueUnderTest } from './contract-queue.js';
import { openRedisQueue } from './redis-queue.js';
import { nativeStore } from './redis-stores.js';

const SIZE = 50_000;
const COUNT = 30;

describe('a call that has room for few of many large messages', () => {
  const redis = new Redis(sharedRedisUrl());
  const queues: QueueUnderTest[] = [];
  let queue: QueueUnderTest;
  let name: string;

  beforeEach(async () => {
    queue = openRedisQueue(nativeStore({ attempts: 3, maxDeadLetters: 1000, maxMessages: null }));
    queues.push(queue);
    name = randomName('large');
    const body = Buffer.from(JSON.stringify('x'.repeat(SIZE)));
    const offers = Array.from({ length: COUNT }, (_, i) => ({
      id: `${name}-${i}`,
      due: { at: 0 },
      onDuplicate: 'keep' as const,
      body,
    }));
    await queue.store.offer(offers);
  });
  afterAll(async () => {
    await Promise.all(queues.map((each) => each.close()));
    redis.disconnect();
  });

  /** Returns how many records a call reads, by the commands that Redis reports. */
  async function recordsReadBy(call: () => Promise<unknown>): Promise<number> {
    const end = randomName('end');
    let [records, isOver] = [0, false];
    const stop = await watchCommands(sharedRedisUrl(), ({ words: [command, key, ...ids] }) => {
      if (key === end) isOver = true;
      if (command === 'HMGET' && key!.endsWith(':messages')) records += ids.filter((id) => id.startsWith(name)).length;
    });
    await call();
    await redis.call('ECHO', end);
    await until(() => isOver);
    stop();
    return records;
  }

  it('claims them, and reads hardly more than it claims', async () => {
    await queue.store.transfer({ limit: COUNT });
    const read = await recordsReadBy(async () => {
      const claim = { token: 'few', limit: COUNT, maxBytes: 3.5 * SIZE, lease: HOUR };
      expect((await queue.store.claim(claim)).messages).toHaveLength(3);
    });
    expect(read).toBeLessThanOrEqual(4);
  });

  it('lists them, and reads hardly more than it lists', async () => {
    const read = await recordsReadBy(async () => {
      const page = await queue.store.list({ state: 'delayed', limit: COUNT });
      expect(page.messages).toHaveLength(20);
    });
    expect(read).toBeLessThanOrEqual(21);
  });
});
