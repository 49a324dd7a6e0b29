import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisSentinels } from './redis-sentinels.js';

describe('a test primary with replicas and sentinels', () => {
  let all: RedisSentinels;

  /** What a client that asks the sentinels for the primary does there. */
  async function onPrimary<T>(task: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis({ ...all.connection, maxRetriesPerRequest: null });
    client.on('error', () => undefined);
    try {
      return await task(client);
    } finally {
      client.disconnect();
    }
  }
  const value = () => onPrimary((client) => client.get('key'));

  beforeAll(async () => {
    all = await RedisSentinels.start();
    await onPrimary((client) => client.set('key', 'value'));
  });
  afterAll(() => all.stop());

  it('has a primary and two replicas', async () => {
    expect(await all.primary()).toBe(all.servers[0]);
    expect(all.servers).toHaveLength(3);
  });

  it('fails over on demand', async () => {
    const former = await all.primary();
    await all.failOver();
    expect(await all.primary()).not.toBe(former);
    expect(await value()).toBe('value');
  });

  it('replaces a primary that is killed, and has two replicas again when that one is back', async () => {
    const former = await all.primary();
    await former.kill9();
    await all.untilReplaced(former);
    expect(await value()).toBe('value');
    await former.restart();
    await all.untilWhole();
    // The former primary came back empty. If the machine stalls for a second, it may be the primary again, with what it has copied.
    expect(await value()).toBe('value');
  });
});
