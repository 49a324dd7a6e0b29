import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../support/until.js';
import { hasServerBinary, SampleApp, SampleFolders } from '../programs/sample-app.process.js';

jest.setTimeout(60_000);

const describeWithServer = hasServerBinary ? describe : describe.skip;
if (!hasServerBinary) console.warn('No Redis server on the PATH: the private Redis of the sample shop is NOT TESTED.');

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
    'exits together with the shop on %s, even while pages are listening',
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

  it.each([
    { payWithin: '6s', when: 'due after the restart is cancelled on time', signal: 'SIGTERM' },
    { payWithin: '1s', when: 'due during the restart is cancelled at once', signal: 'SIGTERM' },
    { payWithin: '1s', when: 'due while the shop was down after a crash is cancelled at once', signal: 'SIGKILL' },
  ] as const)("keeps the shop's orders: an order $when", async ({ payWithin, signal }) => {
    const first = await start();
    const id = await first.place({ payWithin });
    await first.end(signal);
    if (payWithin === '1s') await sleep(1000);

    const second = await start();
    const started = Date.now();
    const order = async () => (await second.get(`/orders/${id}`)).body;
    await until(async () => (await order()).status === 'cancelled', { within: 30_000 });
    const { settledAt, dueAt } = await order();
    const due = Date.parse(String(dueAt));
    const settled = Date.parse(String(settledAt));
    expect(settled).toBeGreaterThanOrEqual(due);
    // The next check of the queue is a minute away.
    expect(settled - Math.max(due, started)).toBeLessThan(3000);
  });

  it('serves only one shop, and a second shop logs how to share it', async () => {
    const first = await start();
    const second = new SampleApp(folders.env);
    expect(await second.exited()).toBe(1);
    expect(second.log).toContain(`is in use by process`);
    expect(second.log).toContain(`REDIS_URL=${first.redisUrl} PORT=3001 npm start`);
    expect((await first.get('/orders')).status).toBe(200);
  });

  it('is started only once when two shops start at the same time', async () => {
    const both = [new SampleApp(folders.env), new SampleApp(folders.env)];
    shops.push(...both);
    const results = await Promise.allSettled(both.map((shop) => shop.ready()));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

async function answers(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
