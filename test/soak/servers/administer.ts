import { Redis } from 'ioredis';
import type { TestRedis } from '../../support/redis/test-redis.js';

/** The time that a server has to connect and to answer, ms: one that is frozen never does. */
const PATIENCE = 1000;

/** The time that replicas have to catch up, ms. */
const MAX_WAIT = 10_000;

/** How long what is written for a test stays, ms. */
const LIFETIME = 2000;

/** Connects to one server, bypassing everything between. */
export async function administer<T>(
  { url }: TestRedis,
  work: (redis: Redis) => Promise<T>,
  commandTimeout = PATIENCE,
): Promise<T> {
  const redis = new Redis(url, {
    ...{ connectionName: 'soak', retryStrategy: null, maxRetriesPerRequest: 0 },
    ...{ connectTimeout: PATIENCE, commandTimeout },
  });
  redis.on('error', () => undefined);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** Writes something that soon expires. @param key - one that the server has */
export async function write(server: TestRedis, key: string): Promise<void> {
  await administer(server, (redis) => redis.set(key, '', 'PX', LIFETIME));
}

/**
 * Resolves when `replicas` replicas have all that the server acknowledged before this call: replication keeps the order of the
 * writes, so they have it when they have a later one.
 */
export async function replicate(server: TestRedis, { key, replicas }: { key: string; replicas: number }) {
  const reached = await administer(
    server,
    async (redis) => {
      await redis.set(key, '', 'PX', LIFETIME);
      return redis.wait(replicas, MAX_WAIT);
    },
    2 * MAX_WAIT,
  );
  if (reached < replicas) throw new Error(`Only ${reached} of ${replicas} replicas caught up.`);
}
