import { afterAll, afterEach, beforeAll, beforeEach, jest } from '@jest/globals';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { SampleApp, SampleFolders } from '../programs/sample-app.process.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { startChromium } from './chromium.js';
import { ShopPage } from './shop-page.js';

interface RunningShopOptions {
  /** The store of the shop's orders; a `private redis` is one that it starts itself. Default: `redis` */
  readonly store?: 'redis' | 'private redis' | 'memory';
  /** What each test gets for itself: the shop with its page, or only the page. By default, the suite shares both. */
  readonly anew?: 'shop' | 'page';
}

/** The sample shop in a process of its own, and its page in Chromium, for the tests of one suite. */
export class RunningShop {
  browser!: Browser;
  app!: SampleApp;
  page!: ShopPage;
  #redis: TestRedis | undefined;
  #folders: SampleFolders | undefined;

  constructor({ store = 'redis', anew }: RunningShopOptions = {}) {
    // The browser may have to be installed first.
    jest.setTimeout(300_000);
    const [beforeShop, afterShop] = anew === 'shop' ? [beforeEach, afterEach] : [beforeAll, afterAll];
    const [beforePage, afterPage] = anew === undefined ? [beforeAll, afterAll] : [beforeEach, afterEach];
    beforeAll(async () => {
      this.browser = await startChromium();
    });
    beforeShop(async () => {
      if (store === 'redis') this.#redis = await startRedis();
      if (store === 'private redis') this.#folders = new SampleFolders();
      await this.startApp();
    });
    beforePage(async () => {
      this.page = await this.openPage();
    });
    afterPage(() => this.page.context.close());
    afterShop(async () => {
      await this.app.end();
      await this.#redis?.stop();
      this.#folders?.remove();
    });
    afterAll(() => this.browser.close());
  }

  /** The Redis of the tests. */
  get redis(): TestRedis {
    if (!this.#redis) throw new Error('This shop keeps its orders elsewhere.');
    return this.#redis;
  }

  /** Opens another page of the shop, which the test must close. */
  openPage(options?: BrowserContextOptions): Promise<ShopPage> {
    return ShopPage.open(this.browser, this.app.url, options);
  }

  /** Starts the shop's process, or starts it again after it has ended. */
  async startApp(env: { readonly PORT?: string } = {}): Promise<void> {
    const store = this.#redis ? { REDIS_URL: this.#redis.url } : this.#folders?.env;
    this.app = await SampleApp.start({ ...store, ...env });
  }
}
