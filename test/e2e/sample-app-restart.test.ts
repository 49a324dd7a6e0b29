import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { until } from '../support/until.js';
import { hasServerBinary, SampleApp, SampleFolders } from './sample-app.process.js';

jest.setTimeout(60_000);

const describeWithServer = hasServerBinary ? describe : describe.skip;

describeWithServer('the private Redis of the sample shop', () => {
  let folders: SampleFolders;
  const shops: SampleApp[] = [];

  beforeEach(() => {
    folders = new SampleFolders();
  });

  afterEach(async () => {
    for (const shop of shops.splice(0)) {
      await shop.end('SIGKILL');
      if (shop.redisUrl) await until(async () => !(await answers(shop.redisUrl)));
    }
    folders.remove();
  });

  async function start(): Promise<SampleApp> {
    const shop = await SampleApp.start(folders.env);
    shops.push(shop);
    return shop;
  }

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'ends with the shop, upon %s, while pages listen',
    async (signal) => {
      const shop = await start();
      const page = await shop.listen();
      expect(await answers(shop.redisUrl)).toBe(true);
      const asked = performance.now();
      await shop.end(signal);
      expect(performance.now() - asked).toBeLessThan(2000);
      await until(async () => !(await answers(shop.redisUrl)));
      expect(readFileSync(join(folders.data, 'redis.log'), 'utf8')).toContain('ready to exit');
      page.close();
    },
  );

  it('keeps the orders: one that falls due after a restart is cancelled in time', async () => {
    const first = await start();
    const id = await first.place({ payWithin: '8s' });
    await first.end();

    const second = await start();
    const page = await second.listen();
    expect(page.of('snapshot')[0]?.data.orders).toMatchObject([{ id, status: 'unpaid' }]);
    const { data } = await page.until('order', { id, status: 'cancelled' }, 15_000);
    page.close();
    const late = Date.parse(String(data.settledAt)) - Date.parse(String(data.dueAt));
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(250);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'keeps the orders: one overdue since a %s is cancelled at once',
    async (signal) => {
      const first = await start();
      const id = await first.place({ payWithin: '100ms' });
      const later = await first.place({ payWithin: '1500ms' });
      await until(async () => (await first.get(`/orders/${id}`)).body.status === 'cancelled');
      await first.end(signal);
      await sleep(1500);

      const second = await start();
      const started = Date.now();
      await until(async () => (await second.get(`/orders/${later}`)).body.status === 'cancelled', { within: 2000 });
      expect(Date.now() - started).toBeLessThan(1000);
    },
  );

  it('serves one shop only: a second one is told how to join', async () => {
    const first = await start();
    const second = new SampleApp(folders.env);
    expect(await second.exited()).toBe(1);
    expect(second.log).toContain(`is in use by process`);
    expect(second.log).toContain(`REDIS_URL=${first.redisUrl} PORT=3001 npm start`);
    expect((await first.get('/orders')).status).toBe(200);
  });

  it('is started once when two shops start at the same moment', async () => {
    const both = [new SampleApp(folders.env), new SampleApp(folders.env)];
    shops.push(...both);
    const results = await Promise.allSettled(both.map((shop) => shop.ready()));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
