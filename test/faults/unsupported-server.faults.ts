import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { checkServer } from '../../lib/redis/check/server-info.js';

describe('a Redis that evicts keys', () => {
  const scene = new Scene({ args: ['--maxmemory-policy', 'allkeys-lru'] });

  test('is rejected at startup, and the error says what to do', async () => {
    const start = scene.startApp({ providers: [handlerOf(scene.newQueue(), () => undefined)] });
    await expect(start).rejects.toMatchObject({
      code: 'UNSUPPORTED_SERVER',
      message: expect.stringMatching(/maxmemory-policy allkeys-lru.*noeviction.*allowEviction: true/),
    });
    expect(await scene.redis.client('LIST')).not.toContain('delay-queue:');
  });

  test('is accepted with allowEviction: true', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const providers = [handlerOf(queue, handled.record)];
    const { producer } = await scene.startApp({ module: { allowEviction: true }, providers });
    await producer.offer(queue, 1, 0);
    expect(await handled.untilCalls(1)).toMatchObject({ attempt: 1 });
  });

  test('is accepted if it evicts only keys with an expiry, because queues have none', async () => {
    await scene.redis.config('SET', 'maxmemory-policy', 'volatile-lru');
    await expect(scene.startApp()).resolves.toBeDefined();
  });
});

describe('the server check', () => {
  const info = (version: string) =>
    `# Server\r\nredis_version:${version}\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n`;

  test.each(['7.0.15', '7.2.4', '8.6.0', '10.0.0'])('accepts version %s', (version) => {
    expect(() => checkServer(info(version), { allowEviction: false })).not.toThrow();
  });

  test.each(['6.2.14', '5.0.0'])('rejects version %s', (version) => {
    expect(() => checkServer(info(version), { allowEviction: false })).toThrow(/is too old: use Redis 7.0 or newer/);
  });
});
