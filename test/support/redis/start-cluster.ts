import { Redis } from 'ioredis';
import { until } from '../until.js';
import { startRedis } from './start-redis.js';
import type { TestRedis } from './test-redis.js';

/**
 * Starts a cluster of one node, which holds all slots: it refuses what a cluster refuses, such as a script whose keys are not
 * in one slot. The caller must `stop()` it.
 *
 * @param args - more arguments of the server
 */
export async function startCluster(args: readonly string[] = []): Promise<TestRedis> {
  const server = await startRedis({
    args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', ...args],
  });
  const redis = new Redis(server.url);
  await redis.cluster('ADDSLOTSRANGE', 0, 16383);
  await until(async () => (await redis.cluster('INFO')).includes('cluster_state:ok'), { within: 20_000 });
  redis.disconnect();
  return server;
}
