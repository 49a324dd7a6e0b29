import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { sharedRedisUrl } from './shared-redis.js';
import { startRedis } from './start-redis.js';
import type { TestRedis } from './test-redis.js';

const FROZEN = 200;

describe('a test server', () => {
  let server: TestRedis;
  let client: Redis;

  beforeEach(async () => {
    server = await startRedis();
    client = new Redis(server.url, { retryStrategy: () => 10 });
    client.on('error', () => {});
    await client.set('key', 'value');
  });

  afterEach(async () => {
    client.disconnect();
    await server.stop();
  });

  it('differs from the shared server', () => {
    expect(server.url).not.toBe(sharedRedisUrl());
  });

  it('comes back empty after a crash', async () => {
    await server.kill9();
    await server.restart();
    expect(await client.get('key')).toBeNull();
  });

  it('answers again after a restart', async () => {
    await server.restart();
    expect(await client.ping()).toBe('PONG');
  });

  it('does not answer while it is frozen', async () => {
    await server.freeze();
    const reply = client.get('key');
    const silence = sleep(FROZEN, 'silence');
    expect(await Promise.race([reply, silence])).toBe('silence');
    await server.thaw();
    expect(await reply).toBe('value');
  });
});

describe('startRedis', () => {
  it('passes on its arguments, such as those that let data survive a crash', async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const client = new Redis(server.url, { retryStrategy: () => 10 });
    client.on('error', () => {});
    await client.set('key', 'value');
    await server.kill9();
    await server.restart();
    expect(await client.get('key')).toBe('value');
    client.disconnect();
    await server.stop();
  });

  it('fails with the output of a server that does not start', async () => {
    await expect(startRedis({ args: ['--no-such-option', 'yes'] })).rejects.toThrow(/no-such-option/);
  });

  it('leaves nothing behind', async () => {
    const server = await startRedis();
    const client = new Redis(server.url);
    const [, folder] = (await client.config('GET', 'dir')) as [string, string];
    client.disconnect();
    await server.stop();
    expect(existsSync(folder)).toBe(false);
    expect(server.pid).toBeUndefined();
  });
});
