import { afterAll, beforeAll, beforeEach, describe, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { sharedRedisUrl } from '../../../../test/support/redis/shared-redis.js';
import { buildPeer, missingJava, REDISSON_LINES, type RedissonLine } from './java-build.js';
import { JavaPeer } from './java-peer.js';

/** The tools of a suite: a Redisson client, and a Redis client that reads what it wrote. */
export interface JavaSuite {
  readonly line: RedissonLine;
  readonly java: JavaPeer;
  readonly redis: Redis;
}

/** Redisson's own client loses an answer at times, or the lock of its subscriptions, on a busy machine: up to 3.20, a known failure. */
const LOSES_ANSWERS: readonly RedissonLine[] = ['3.20'];

/** The first build downloads what Maven needs. */
const BUILD_TIMEOUT = 600_000;

/** Jest's `describe`; without Java, what skips the suite, with a loud word. */
export function describeIfJava(): typeof describe | typeof describe.skip {
  const problem = missingJava();
  if (problem === undefined) return describe;
  // Past jest, which keeps what a skipped suite logs to itself.
  process.stderr.write(`\n${'!'.repeat(80)}\nNOT TESTED against Redisson: ${problem}\n${'!'.repeat(80)}\n`);
  return describe.skip;
}

/**
 * Declares a suite for each line of Redisson, whose client is ready when its tests run. Without Java the suite is skipped,
 * with a loud word.
 */
export function describeWithJava(
  name: string,
  declare: (suite: JavaSuite) => void,
  lines: readonly RedissonLine[] = REDISSON_LINES,
): void {
  describeIfJava().each(lines)(`${name} (Redisson %s)`, (line) => {
    let java: JavaPeer;
    let redis: Redis;
    jest.setTimeout(60_000);
    if (LOSES_ANSWERS.includes(line)) jest.retryTimes(2, { logErrorsBeforeRetry: true });

    const startJava = async () => {
      java = await JavaPeer.start(line);
      await java.connect(sharedRedisUrl());
    };

    beforeAll(async () => {
      await buildPeer(line);
      redis = new Redis(sharedRedisUrl());
      await startJava();
    }, BUILD_TIMEOUT);

    beforeEach(async () => {
      if (!java.hasTimedOut) return;
      await java.kill9();
      await startJava();
    });

    afterAll(async () => {
      await java?.end();
      await redis?.quit();
    });

    declare({
      line,
      get java() {
        return java;
      },
      get redis() {
        return redis;
      },
    });
  });
}
