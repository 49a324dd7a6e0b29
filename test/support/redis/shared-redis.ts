import { findRuntime } from './find-runtime.js';
import { publish, published } from './provisioned.js';
import { startRedis } from './start-redis.js';

/** The URL of the server that all tests share: use random names, and flush nothing. */
export function sharedRedisUrl(): string {
  const url = published()?.url;
  if (url === undefined) throw new Error(published()?.problem ?? 'There is a shared server only while jest runs.');
  return url;
}

/** Ends a run in which each of thousands of tests would fail for the same reason: that there is no server. */
export function requireRedis(): void {
  const { url, problem } = published()!;
  // The stack of the set-up tells nobody anything.
  if (url === undefined) throw Object.assign(new Error(problem), { stack: '' });
}

/**
 * Finds out, once for a test run, how to run Redis here, and starts the shared server, unless `REDIS_URL` names one.
 *
 * @returns what to call after the tests
 */
export async function setUpRedis(): Promise<() => Promise<void>> {
  const url = process.env.REDIS_URL || undefined;
  let runtime, problem;
  try {
    runtime = await findRuntime();
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  publish({ url, runtime, problem });
  if (url !== undefined || runtime === undefined) return () => Promise.resolve();
  const server = await startRedis();
  publish({ url: server.url, runtime, problem });
  return () => server.stop();
}
