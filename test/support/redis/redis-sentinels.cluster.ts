import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisSentinels } from './redis-sentinels.js';

describe('a test primary with replicas and sentinels', () => {
  let all: RedisSentinels;
  let client: Redis;

  beforeAll(async () => {
    all = await RedisSentinels.start();
    client = new Redis({ ...all.connection, maxRetriesPerRequest: null });
    client.on('error', () => undefined);
    await client.set('key', 'value');
  });
  afterAll(async () => {
    client.disconnect();
    await all.stop();
  });

  it('has a primary and two replicas', async () => {
    expect(await all.primary()).toBe(all.servers[0]);
    expect(all.servers).toHaveLength(3);
  });

  it('fails over on demand', async () => {
    const former = await all.primary();
    await all.failOver();
    expect(await all.primary()).not.toBe(former);
    client.disconnect(true);
    expect(await client.get('key')).toBe('value');
  });

  it('replaces a primary that is killed, which comes back as a replica', async () => {
    const former = await all.primary();
    await former.kill9();
    await all.untilReplaced(former);
    expect(await client.get('key')).toBe('value');
    await former.restart();
    await all.untilWhole();
    expect(await all.primary()).not.toBe(former);
  });
});
