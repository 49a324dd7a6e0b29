import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import type { Application } from './application.js';
import { compileStock, STOCK_COMPILERS } from './stock-settings.js';

/** Declares the tests of an application with two Redis servers and a queue in memory: `instances.ts`. */
export function describeInstances(app: () => Application): void {
  describe('an application with several instances', () => {
    let servers: readonly TestRedis[] = [];

    beforeAll(async () => {
      servers = await Promise.all([startRedis(), startRedis()]);
    });

    afterAll(() => Promise.all(servers.map((server) => server.stop())));

    it.each(STOCK_COMPILERS)('compiles with $compiler under the settings of `nest new`', async (compiler) => {
      expect(await compileStock(app(), 'src/instances.ts', compiler)).toBe('');
    });

    it('handles each message only in its own instance', async () => {
      const [shop, billing] = servers;
      const env = { REDIS_URL: shop!.url, BILLING_URL: billing!.url };
      const output = await app().command(process.execPath, [app().path('built/instances.js')], { env });
      expect(JSON.parse(output)).toEqual({
        handled: ['billing: b', 'drafts: c', 'invoice: d', 'shop: a'],
        reported: ['billing: invoices', 'billing: orders'],
        found: 'nothing',
      });
      expect(await keysOf(shop!)).not.toContain('left');
      expect(await keysOf(billing!)).toContain('left');
    });
  });
}

/** The names of all keys. */
async function keysOf({ url }: TestRedis): Promise<string> {
  const redis = new Redis(url);
  const keys = await redis.keys('*');
  redis.disconnect();
  return keys.join(' ');
}
