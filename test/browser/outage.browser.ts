import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import type { Browser } from 'playwright-core';
import { hasServerBinary, SampleApp, SampleFolders } from '../e2e/sample-app.process.js';
import { startChromium } from './chromium.js';
import { expectVisible, ShopPage } from './shop-page.js';

// The browser may have to be installed first.
jest.setTimeout(300_000);

const describeWithServer = hasServerBinary ? describe : describe.skip;
if (!hasServerBinary)
  console.warn('No Redis server on the PATH: the page during an outage of its Redis is NOT TESTED.');

describeWithServer('the sample page while its private Redis is away', () => {
  let browser: Browser;
  let folders: SampleFolders;
  let app: SampleApp;
  let shop: ShopPage;
  let redisPid: number;

  beforeAll(async () => {
    browser = await startChromium();
  });

  afterAll(async () => {
    await browser.close();
  });

  beforeEach(async () => {
    folders = new SampleFolders();
    app = await SampleApp.start(folders.env);
    redisPid = await pidOf(app.redisUrl);
    shop = await ShopPage.open(browser, app.url);
  });

  afterEach(async () => {
    await shop.context.close();
    await app.end();
    folders.remove();
  });

  it('says so while Redis is frozen, open or freshly loaded, and carries on when it is back', async () => {
    await shop.place('Tea', '2');
    await expectVisible(shop.order('Tea', 'unpaid'));
    process.kill(redisPid, 'SIGSTOP');
    await expectVisible(shop.badge('Redis is away'), 4000);
    await expectVisible(shop.order('Tea').getByText('waiting for Redis'));

    const fresh = await ShopPage.openAway(browser, app.url);
    await expectVisible(fresh.page.getByText('Cannot read the orders while Redis is away.'));
    await expectVisible(fresh.page.getByText('Cannot read the tasks while Redis is away.'));
    await fresh.page.getByText('No orders yet').waitFor({ state: 'hidden' });
    await fresh.place('Coffee', '10');
    await expectVisible(fresh.page.getByRole('alert').filter({ hasText: 'cannot reach its Redis' }), 10_000);

    process.kill(redisPid, 'SIGCONT');
    for (const page of [shop, fresh]) {
      await expectVisible(page.badge('Live'), 15_000);
      await expectVisible(page.order('Tea', 'cancelled'), 15_000);
    }
    await fresh.context.close();
  });

  it('says so when Redis was killed, and carries on when the shop has restarted it', async () => {
    await shop.place('Tea', '2');
    await expectVisible(shop.order('Tea', 'unpaid'));
    process.kill(redisPid, 'SIGKILL');
    await expectVisible(shop.badge('Redis is away'), 1000);
    await expectVisible(shop.badge('Live'), 15_000);
    await expectVisible(shop.order('Tea', 'cancelled'), 15_000);
    expect(await pidOf(app.redisUrl)).not.toBe(redisPid);
  });
});

async function pidOf(url: string): Promise<number> {
  const redis = new Redis(url);
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}
