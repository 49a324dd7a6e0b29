import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';

/** Longer than a test may take, ms. */
const LONG = 300_000;

describe('consumers that wait for wake-up signals on one connection', () => {
  let server: TestRedis;
  let connections: RedisConnections;
  let redis: Redis;
  let keys: [string, string];
  /** The keys whose signals were put back. */
  let putBack: string[];

  // A server of its own, to see whether a client is blocked.
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  beforeEach(() => {
    const settings = { connection: server.url, clock: systemClock, events: new LoggedEvents() };
    connections = new RedisConnections({ ...settings, commandTimeout: 5000, heartbeat: 60_000 });
    redis = new Redis(server.url);
    keys = [randomName('signal'), randomName('signal')];
    putBack = [];
  });
  afterEach(async () => {
    await connections.close();
    await redis.quit();
  });

  const openBoth = () =>
    keys.map((key) => connections.openWakeSignal(key, () => Promise.resolve(void putBack.push(key))));

  const isBlocked = async () => (await redis.info('clients')).includes('blocked_clients:1');

  it('are each woken by their own signal, even if the other one began to wait earlier', async () => {
    const [first, second] = openBoth();
    const ofFirst = first!.wait(LONG);
    await until(isBlocked);
    const ofSecond = second!.wait(LONG);
    await redis.rpush(keys[1], '1');
    expect(await ofSecond).toBe(true);
    await redis.rpush(keys[0], '1');
    expect(await ofFirst).toBe(true);
    expect(putBack).toEqual([]);
  });

  it('take no signal of one that has not begun to wait', async () => {
    const [idle, waiting] = openBoth();
    await redis.rpush(keys[0], '1');
    await redis.rpush(keys[1], '1');
    expect(await waiting!.wait(LONG)).toBe(true);
    expect(await redis.llen(keys[0])).toBe(1);
    expect(putBack).toEqual([]);
    expect(await idle!.wait(LONG)).toBe(true);
  });
});
