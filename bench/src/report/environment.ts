import type { Redis } from 'ioredis';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, loadavg, totalmem, version as kernel } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from '../servers/find-postgres.js';

const require = createRequire(import.meta.url);

const PACKAGES = ['@nestjs/core', 'ioredis', 'bullmq', 'bee-queue', 'pg-boss'];

/** The hardware and versions that the figures depend on. */
export async function readEnvironment(redis: Redis): Promise<Record<string, string>> {
  const server = await redis.info('server');
  const redisVersion = /^redis_version:(\S+)/m.exec(server)![1]!;
  return {
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    'load before': loadavg()[0]!.toFixed(1),
    system: kernel(),
    Node: process.version,
    Redis: `${redisVersion}, nothing on disk`,
    PostgreSQL: postgresVersion(),
    Java: javaVersion(),
    ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
  };
}

function postgresVersion(): string {
  const folder = findPostgres();
  if (folder === undefined) return 'not installed';
  const words = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout;
  return `${/[\d.]+/.exec(words)?.[0] ?? words.trim()}, each commit flushed to the disk`;
}

function javaVersion(): string {
  const { status, stdout } = spawnSync('java', ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n')[0]! : 'not installed';
}

function versionOf(name: string): string {
  const folder = require.resolve.paths(name)!.map((path) => `${path}/${name}/package.json`);
  for (const file of folder) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    } catch {
      // Node.js looks for it in the next folder, too.
    }
  }
  return 'not installed';
}
