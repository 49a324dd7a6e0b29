import type { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, totalmem, version as kernel } from 'node:os';

const require = createRequire(import.meta.url);

/** What the figures depend on. */
export async function readEnvironment(redis: Redis): Promise<Record<string, string>> {
  const server = await redis.info('server');
  const redisVersion = /^redis_version:(\S+)/m.exec(server)![1]!;
  return {
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: kernel(),
    Node: process.version,
    Redis: `${redisVersion}, nothing on disk`,
    ...Object.fromEntries(['@nestjs/core', 'ioredis', 'bullmq', 'bee-queue'].map((name) => [name, versionOf(name)])),
  };
}

function versionOf(name: string): string {
  const folder = require.resolve.paths(name)!.map((path) => `${path}/${name}/package.json`);
  for (const file of folder) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    } catch {
      // It is not in this folder, but in one above.
    }
  }
  return 'not installed';
}
