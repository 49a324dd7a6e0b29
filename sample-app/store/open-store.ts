import type { Settings } from '../settings.js';
import { findServer } from './find-server.js';
import { startPrivateRedis } from './private-redis.js';
import { redactUrl, requireRedis } from './ask-redis.js';
import type { ShopStore } from './shop-store.js';

/** The Redis at REDIS_URL, else a private one, else memory. */
export async function openStore({ redisUrl, dataFolder }: Settings): Promise<ShopStore> {
  if (redisUrl !== undefined) {
    await requireRedis(redisUrl);
    return { kind: 'redis', url: redisUrl, label: `Redis at ${redactUrl(redisUrl)}` };
  }
  const server = findServer(process.env.PATH);
  if (server === undefined) {
    return { kind: 'memory', label: 'memory: orders and messages are lost when this process ends' };
  }
  const url = await startPrivateRedis(server, dataFolder);
  return { kind: 'redis', url, label: `a private Redis at ${url}` };
}
