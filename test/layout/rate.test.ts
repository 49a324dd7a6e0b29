import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import type { Rate } from '../../lib/store/message-store.js';
import { RedisLibrary } from '../../lib/redis/script/redis-library.js';
import { NATIVE_MODULES } from '../../lib/store/native/native-library.js';
import { randomName } from '../support/random-name.js';
import { describeRateProperties, type RateUnderTest } from '../support/rate-properties.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { isThorough } from '../support/thorough.js';

/** The part of a claim that concerns the rate, at an instant that the caller chooses. */
const PROBE = `-- KEYS rate
-- ARGV now: number
--      wanted: number
--      rate: text
local function run(keys, args)
  local q, now, wanted = { rate = keys[1] }, tonumber(args[1]), tonumber(args[2])
  local rate = Rate.read(q, args[3], now)
  local count = min(wanted, rate.room)
  if count > 0 then
    Rate.count(rate, count, now)
  end
  local again_in = count < wanted and Rate.await(rate, now) or -1
  Rate.store(q, rate)
  return { count, again_in }
end

register('probe', { 'allow-oom' }, run)
`;

const [script] = new RedisLibrary('probe', [
  NATIVE_MODULES,
  { read: () => PROBE, modules: [], functions: ['probe'] },
]).define('probe', nativeKeys('', '')).scripts;
/** One byte more than any number of claims can make it. */
const TOO_LONG = 14 + 34 * 11 + 1;

describe('in Redis', () => {
  let redis: Redis;
  const prefix = randomName('rate');
  const keys = () => nativeKeys(prefix, randomName('queue'));
  beforeAll(() => {
    redis = new Redis(sharedRedisUrl());
  });
  afterAll(async () => {
    await redis.unlink(...(await redis.keys(`${prefix}:*`)), 'none');
    await redis.quit();
  });

  /** @param rate - in microseconds */
  function open({ max, per }: Rate, ofQueue = keys()): RateUnderTest {
    return {
      claim: async (now, wanted) => {
        const args = [now, wanted, `${max} ${per / 1000}`];
        const reply = (await redis.eval(script!.source, 1, ofQueue.rate, ...args)) as [number, number];
        return { taken: reply[0], ...(reply[1] >= 0 && { againIn: reply[1] }) };
      },
    };
  }

  describeRateProperties({ open, slack: 1 / 32, runs: isThorough ? 300 : 60 });

  const START = Date.UTC(2030, 0, 1) * 1000;
  const SECOND = 1_000_000;

  test("a rate's key stays small, however many claims there are, and expires", async () => {
    const ofQueue = keys();
    const rate = open({ max: 1_000_000, per: 10 * SECOND }, ofQueue);
    for (let i = 0; i < 2000; i++) {
      await rate.claim(START + i * 9973, 1);
      if (i % 50 === 0) expect(await redis.strlen(ofQueue.rate)).toBeLessThan(TOO_LONG);
    }
    expect(await redis.pttl(ofQueue.rate)).toBeGreaterThan(10_000);
    expect(await redis.pttl(ofQueue.rate)).toBeLessThanOrEqual(11_000);
  });

  test('a rate delays claims by at most its own period when the clock is set back', async () => {
    const rate = open({ max: 2, per: SECOND });
    const HOUR = 3600 * SECOND;
    expect(await rate.claim(START + HOUR, 3)).toMatchObject({ taken: 2 });
    expect(await rate.claim(START, 1)).toEqual({ taken: 0, againIn: SECOND });
    expect(await rate.claim(START + SECOND, 1)).toMatchObject({ taken: 1 });
  });

  test('a rate ignores foreign data in its key', async () => {
    const ofQueue = keys();
    for (const garbage of ['', 'x', 'a text of some length', 'a text that is longer than a bucket']) {
      await redis.set(ofQueue.rate, garbage);
      expect(await open({ max: 2, per: SECOND }, ofQueue).claim(START, 2)).toEqual({ taken: 2 });
    }
  });
});
