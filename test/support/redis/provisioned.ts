import type { RedisRuntime } from './find-runtime.js';

const VARIABLE = 'TEST_REDIS';

/**
 * What the set-up of a test run found, for all of its tests. What is lacking is an error only in a test that needs it:
 * unit tests need no Redis.
 */
export interface Provisioned {
  /** The URL of the server that all tests share, if there is one. */
  readonly url: string | undefined;
  /** How to start servers of one's own; undefined: there is no way. */
  readonly runtime: RedisRuntime | undefined;
  /** The reason why something is missing. */
  readonly problem: string | undefined;
}

/** Hands it on to the processes in which the tests run. */
export function publish(provisioned: Provisioned): void {
  process.env[VARIABLE] = JSON.stringify(provisioned);
}

/** What the set-up has published; undefined outside of a test run, in a benchmark for example. */
export function published(): Provisioned | undefined {
  const text = process.env[VARIABLE];
  return text === undefined ? undefined : (JSON.parse(text) as Provisioned);
}
