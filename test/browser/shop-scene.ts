import type { Browser } from 'playwright-core';
import { SampleApp } from '../e2e/sample-app.process.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { ShopPage } from './shop-page.js';

/** A Redis of its own, the shop on it, and its page in a browser. */
export class ShopScene {
  private constructor(
    readonly redis: TestRedis,
    readonly app: SampleApp,
    readonly shop: ShopPage,
  ) {}

  static async open(browser: Browser): Promise<ShopScene> {
    const redis = await startRedis();
    const app = await SampleApp.start({ REDIS_URL: redis.url });
    return new ShopScene(redis, app, await ShopPage.open(browser, app.url));
  }

  async close(): Promise<void> {
    await this.shop.context.close();
    await this.app.end();
    await this.redis.stop();
  }
}
