import { Redis } from 'ioredis';
import { StartError } from '../start-error.js';

const TIMEOUT = 3000;

/** Asks a server one question over a separate connection; rejects if it does not answer soon. */
export async function ask<Answer>(url: string, question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: TIMEOUT,
    commandTimeout: TIMEOUT,
    retryStrategy: null,
  });
  let reason: unknown;
  redis.on('error', (error) => (reason = error));
  try {
    await redis.connect();
    return await question(redis);
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}

/** @throws StartError if no Redis answers there */
export async function requireRedis(url: string): Promise<void> {
  try {
    await ask(url, (redis) => redis.ping());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`No Redis answers at ${redactUrl(url)} (REDIS_URL): ${reason}`);
  }
}

/** Whether the Redis at this address has its data in the folder: the port may be somebody else's. */
export async function isServing(url: string, folder: string): Promise<boolean> {
  try {
    return await ask(url, async (redis) =>
      Object.values((await redis.config('GET', 'dir')) as object).includes(folder),
    );
  } catch {
    return false;
  }
}

/** The address without the password. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
