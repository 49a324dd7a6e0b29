import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { computedTime } from '../../../test/support/redis/computed-time.js';
import { startRedis } from '../../../test/support/redis/start-redis.js';
import type { TestRedis } from '../../../test/support/redis/test-redis.js';
import { type RedissonTestQueue, redissonQueues } from './redisson-queue.js';

const FEW = 1000;
const MANY = 30_000;
const BATCH = 500;
const LEASE = 600_000;
/** The maximum ratio of a step's time with thirty times the messages, for cache misses and a logarithm. */
const MAX_TIMES_LONGER = 6;

describe('many messages with the same value', () => {
  const open = redissonQueues();
  // A server of its own, because its computing time is measured.
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const idOf = (index: number) => `m${String(index).padStart(6, '0')}`;
  const indices = (first: number) => Array.from({ length: BATCH }, (_, i) => first + i);

  const offer = ({ store }: RedissonTestQueue, first: number) =>
    store.offer(
      indices(first).map((i) => ({
        id: idOf(i),
        due: { at: 1_000_000_000 - i },
        onDuplicate: 'reject' as const,
        body: 'the same',
      })),
    );

  /** Measures the server's computing time for each step, ms, and returns the ids in the order of their claims. */
  async function measure(queue: RedissonTestQueue, pending: number) {
    const { store, redis } = queue;
    for (let first = 0; first < pending - BATCH; first += BATCH) await offer(queue, first);
    const claimed: string[] = [];
    const steps: Record<string, () => Promise<unknown>> = {
      offer: () => offer(queue, pending - BATCH),
      reschedule: async () => {
        for (let i = 0; i < 20; i++) await store.reschedule(idOf(i), { at: 999_999_999 - pending });
      },
      cancel: async () => {
        for (let i = 20; i < 40; i++) await store.cancel(idOf(i));
      },
      transfer: () => store.transfer({ limit: BATCH }),
      claim: async () => {
        const { messages } = await store.claim({ token: 't', limit: BATCH, lease: LEASE });
        claimed.push(...messages.map(({ id }) => id));
      },
    };
    const times: Record<string, number> = {};
    for (const [name, step] of Object.entries(steps)) {
      const before = await computedTime(redis);
      await step();
      times[name] = (await computedTime(redis)) - before;
    }
    return { times, claimed };
  }

  test('keep their own ids, and each step takes at most six times as long as with few messages', async () => {
    const [warm, few, many] = [open(server), open(server), open(server)];
    await measure(warm, FEW);
    const amongFew = await measure(few, FEW);
    const amongMany = await measure(many, MANY);
    for (const [step, time] of Object.entries(amongMany.times)) {
      console.log(`${step}: ${amongFew.times[step]!.toFixed(2)} ms among ${FEW}, ${time.toFixed(2)} ms among ${MANY}`);
      expect([step, time < MAX_TIMES_LONGER * Math.max(1, amongFew.times[step]!)]).toEqual([step, true]);
    }
    const rescheduled = Array.from({ length: 20 }, (_, i) => idOf(i));
    const latest = Array.from({ length: BATCH - 20 }, (_, i) => idOf(MANY - 1 - i));
    expect(amongMany.claimed).toEqual([...rescheduled, ...latest]);
  });
});
