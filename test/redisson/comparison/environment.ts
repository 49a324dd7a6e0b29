import type { Redis } from 'ioredis';
import { availableParallelism, cpus, loadavg } from 'node:os';

/** What the figures depend on. */
export async function readEnvironment(redis: Redis): Promise<Record<string, string>> {
  const version = /^redis_version:(\S+)/m.exec(await redis.info('server'))![1]!;
  return {
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores`,
    load: loadavg()[0]!.toFixed(1),
    Node: process.version,
    Redis: `${version}, nothing on disk`,
  };
}
