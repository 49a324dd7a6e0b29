import { findRuntime } from './find-runtime.js';
import { published } from './provisioned.js';
import { startProcess } from './redis-process.js';
import type { TestRedis, TestRedisOptions } from './test-redis.js';

/** Starts a server for the caller alone, who must `stop()` it. */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const { runtime, problem } = published() ?? { runtime: await findRuntime() };
  if (runtime === undefined) throw new Error(problem);
  if (runtime.kind === 'binary') return startProcess(runtime, options);
  const { startContainer } = await import('./redis-container.js');
  return startContainer(runtime, options);
}
