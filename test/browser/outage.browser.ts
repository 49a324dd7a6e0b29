import { beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { hasServerBinary } from '../programs/sample-app.process.js';
import { RunningShop } from './running-shop.js';
import { expectVisible, ShopPage } from './shop-page.js';

const describeWithServer = hasServerBinary ? describe : describe.skip;
if (!hasServerBinary)
  console.warn('No Redis server on the PATH: the page during an outage of its Redis is NOT TESTED.');

describeWithServer('the sample page while its private Redis is down', () => {
  const running = new RunningShop({ store: 'private redis', anew: 'shop' });
  let shop: ShopPage;
  let redisPid: number;

  beforeEach(async () => {
    shop = running.page;
    redisPid = await pidOf(running.app.redisUrl);
  });

  it('reports that Redis is frozen, on an open page and on a freshly loaded one, and recovers with it', async () => {
    await shop.place('Tea', '2');
    await expectVisible(shop.order('Tea', 'unpaid'));
    process.kill(redisPid, 'SIGSTOP');
    await expectVisible(shop.badge('Redis is down'), 4000);
    await expectVisible(shop.order('Tea').getByText('waiting for Redis'));

    const fresh = await ShopPage.openAway(running.browser, running.app.url);
    await expectVisible(fresh.page.getByText('The orders cannot be read while Redis is down.'));
    await expectVisible(fresh.page.getByText('The tasks cannot be read while Redis is down.'));
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

  it('reports that Redis was killed, and recovers when the shop has restarted it', async () => {
    await shop.place('Tea', '2');
    await expectVisible(shop.order('Tea', 'unpaid'));
    process.kill(redisPid, 'SIGKILL');
    await expectVisible(shop.badge('Redis is down'), 1000);
    await expectVisible(shop.badge('Live'), 15_000);
    await expectVisible(shop.order('Tea', 'cancelled'), 15_000);
    expect(await pidOf(running.app.redisUrl)).not.toBe(redisPid);
  });
});

async function pidOf(url: string): Promise<number> {
  const redis = new Redis(url);
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}
