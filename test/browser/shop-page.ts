import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';

const WATCH_ORDERS = fileURLToPath(new URL('./watch-orders.js', import.meta.url));

/** When an order on the page changed: milliseconds since its form was sent, by the page's own clock. */
export interface Sighting {
  readonly status: string;
  readonly after: number;
}

/** The page of the shop, with the names that people read on it. */
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

  static async open(browser: Browser, url: string): Promise<ShopPage> {
    const context = await browser.newContext();
    const shop = new ShopPage(await context.newPage(), context);
    await shop.page.addInitScript({ path: WATCH_ORDERS });
    await shop.page.goto(url);
    await shop.page.getByText('Live', { exact: true }).waitFor();
    return shop;
  }

  order(item: string, status?: string): Locator {
    const row = this.page.getByRole('listitem').filter({ hasText: item });
    return status === undefined ? row : row.filter({ has: this.page.getByText(status, { exact: true }) });
  }

  async place(item: string, payWithin: string): Promise<void> {
    await this.page.getByLabel('Item').fill(item);
    await this.page.getByLabel('Pay within').fill(payWithin);
    await this.page.getByRole('button', { name: 'Place order' }).click();
  }

  async pay(item: string): Promise<void> {
    await this.page.getByRole('button', { name: `Pay ${item}` }).click();
  }

  /** What the page has shown of an order since it was opened. */
  async sightings(item: string): Promise<Sighting[]> {
    return (await this.page.evaluate<Record<string, Sighting[]>>('window.sightings'))[item] ?? [];
  }

  count(queue: 'orders' | 'tasks', state: string): Promise<string | null> {
    return this.page.locator(`#counts-${queue} [data-state="${state}"]`).textContent();
  }
}

/** Waits until people can see it. */
export async function expectVisible(what: Locator, timeout = 5000): Promise<void> {
  await what.waitFor({ timeout });
}
