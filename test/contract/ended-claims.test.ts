import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { HOUR } from './contract-queue.js';
import { openRedisQueue } from './redis-queue.js';
import { nativeStore } from './redis-stores.js';

/** The longest `offerTimeout`, ms. */
const MAX_CALL = 600_000;

describe('the end of a superseded claim', () => {
  const redis = new Redis(sharedRedisUrl());
  const queue = openRedisQueue(nativeStore({ attempts: 3, maxDeadLetters: 1000, maxMessages: null }));

  afterEach(async () => {
    await queue.close();
    redis.disconnect();
  });

  it('is remembered for as long as a call may take, and no longer', async () => {
    const late = randomName('late');
    await queue.store.claim({ token: 'again', supersedes: late, limit: 1, lease: HOUR });
    const [key] = await redis.keys(`*:ended:${late}`);
    const left = await redis.pttl(key!);
    expect(left).toBeLessThanOrEqual(MAX_CALL);
    expect(left).toBeGreaterThan(MAX_CALL - 60_000);
  });
});
