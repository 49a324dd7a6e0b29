import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

const IN_PAGE = ['./watch-orders.js', './inspect.js'].map((file) => fileURLToPath(new URL(file, import.meta.url)));

/** An order's status on the page, and when it appeared: ms since its form was sent, by the page's own clock. */
export interface Sighting {
  readonly status: string;
  readonly after: number;
}

/** The questions that `inspect.js` answers. */
type Question =
  'focused' | 'undescribed' | 'brokenReferences' | 'nameless' | 'tooWide' | 'clipped' | 'columns' | 'moving';

/** The shop's page, in terms of what people read on it. */
export class ShopPage {
  readonly problems: string[] = [];

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
  ) {
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
  }

  /** Opens the page for somebody who has seen how it places a first order. */
  static async open(browser: Browser, url: string, options?: BrowserContextOptions): Promise<ShopPage> {
    const shop = await ShopPage.#load(browser, url, options);
    await shop.badge('Live').waitFor();
    return shop;
  }

  /** Opens the page as a visitor does who has never seen it. */
  static async openFirst(browser: Browser, url: string, options?: BrowserContextOptions): Promise<ShopPage> {
    const shop = await ShopPage.#load(browser, url, { ...options, isFirst: true });
    await shop.badge('Live').waitFor();
    return shop;
  }

  /** Opens the page while the shop cannot reach its Redis. */
  static async openAway(browser: Browser, url: string): Promise<ShopPage> {
    const shop = await ShopPage.#load(browser, url);
    await shop.badge('Redis is down').waitFor();
    return shop;
  }

  static async #load(
    browser: Browser,
    url: string,
    { isFirst = false, ...options }: BrowserContextOptions & { isFirst?: boolean } = {},
  ): Promise<ShopPage> {
    const context = await browser.newContext(options);
    const shop = new ShopPage(await context.newPage(), context);
    if (!isFirst) await shop.page.addInitScript({ content: "sessionStorage.setItem('first-order-placed', 'yes')" });
    for (const path of IN_PAGE) await shop.page.addInitScript({ path });
    await shop.page.goto(url);
    return shop;
  }

  /** The page's statement about its connection. */
  badge(text: string): Locator {
    return this.page.getByRole('status').getByText(text, { exact: true });
  }

  order(item: string, status?: string): Locator {
    const row = this.page.getByRole('listitem').filter({ hasText: item });
    return status === undefined ? row : row.filter({ has: this.page.getByText(status, { exact: true }) });
  }

  async place(item: string, payWithin: string, unit = 'seconds'): Promise<void> {
    await this.page.getByLabel('Item').fill(item);
    await this.page.getByLabel('Pay within').fill(payWithin);
    await this.page.getByLabel('Time unit for payment').selectOption(unit);
    await this.page.getByRole('button', { name: 'Place order' }).click();
  }

  async pay(item: string): Promise<void> {
    await this.page.getByRole('button', { name: `Pay ${item}` }).click();
  }

  /** Everything that the page has shown about an order since it was opened. */
  async sightings(item: string): Promise<Sighting[]> {
    return (await this.page.evaluate<Record<string, Sighting[]>>('window.sightings'))[item] ?? [];
  }

  /** Asks one of the questions of `inspect.js`. */
  inspect<Answer>(question: Question): Promise<Answer> {
    return this.page.evaluate<Answer>(`window.inspect.${question}()`);
  }

  /** The number of messages of the orders' queue in a state, as shown on the page. */
  count(state: string): Promise<string | null> {
    return this.page.locator(`#counts-orders [data-state="${state}"]`).textContent();
  }
}

/** Waits until people can see an element. */
export async function expectVisible(what: Locator, timeout = 5000): Promise<void> {
  await what.waitFor({ timeout });
}
