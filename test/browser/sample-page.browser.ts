import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { RunningShop } from './running-shop.js';
import { expectVisible, type ShopPage } from './shop-page.js';

describe('the sample page', () => {
  const running = new RunningShop({ anew: 'shop' });
  let shop: ShopPage;

  beforeEach(() => {
    shop = running.page;
  });

  it('shows where the shop keeps its orders, and that there are none', async () => {
    await expectVisible(shop.page.getByText(`on Redis at ${running.redis.url}`));
    await expectVisible(shop.page.getByText('No orders yet.'));
    expect(shop.problems).toEqual([]);
  });

  it('shows an unpaid order as cancelled when its time is up, without a reload', async () => {
    const items = ['Tea', 'Coffee', 'Cake'];
    for (const item of items) {
      await shop.place(item, '3');
      await expectVisible(shop.order(item));
    }
    const cancelledAfter: number[] = [];
    for (const item of items) {
      await expectVisible(shop.order(item, 'cancelled'), 10_000);
      const sightings = await shop.sightings(item);
      expect(sightings.map(({ status }) => status)).toEqual(['unpaid', 'cancelled']);
      cancelledAfter.push(sightings[1]!.after);
    }
    console.log(`Cancelled after placing: ${cancelledAfter.map((after) => `${after.toFixed(0)} ms`).join(', ')}`);
    expect(Math.min(...cancelledAfter)).toBeGreaterThan(3000);
    // The machine may stall for a while, but not every time.
    expect(Math.min(...cancelledAfter)).toBeLessThan(3100);
    expect(shop.problems).toEqual([]);
  });

  it("counts down by the server's clock, whatever the client's clock", async () => {
    await shop.page.clock.install({ time: new Date('2001-01-01') });
    await shop.page.reload();
    await shop.page.clock.runFor(500);
    await shop.place('Tea', '100');
    await expectVisible(shop.order('Tea', 'unpaid'));
    expect(await shop.order('Tea').locator('.time').textContent()).toMatch(/^1:(40|3\d)$/);
  });

  it('keeps a paid order paid', async () => {
    await shop.place('Tea', '1');
    await shop.pay('Tea');
    await expectVisible(shop.order('Tea', 'paid'));
    await shop.place('Coffee', '1.5');
    await expectVisible(shop.order('Coffee', 'cancelled'));
    expect((await shop.sightings('Tea')).map(({ status }) => status)).toEqual(['unpaid', 'paid']);
  });

  it('shows how many messages are delayed', async () => {
    await until(async () => (await shop.count('delayed')) === '0');
    await shop.place('Tea', '2');
    await until(async () => (await shop.count('delayed')) === '1', { within: 1000 });
    await expectVisible(shop.order('Tea', 'cancelled'));
    await until(async () => (await shop.count('delayed')) === '0', { within: 1000 });
    await until(async () => (await shop.count('active')) === '0', { within: 2000 });
  });

  it('shows the same orders in every tab', async () => {
    const other = await running.openPage();
    await shop.place('Tea', '10', 'minutes');
    await expectVisible(other.order('Tea', 'unpaid'));
    await other.pay('Tea');
    await expectVisible(shop.order('Tea', 'paid'));
    await other.context.close();
  });

  it('shows next to the form why the shop refused an order', async () => {
    await shop.place('Tea', '40000', 'days');
    const error = shop.page.getByRole('alert').filter({ hasText: 'must be between' });
    await expectVisible(error);
    await shop.place('Tea', '10', 'minutes');
    await expectVisible(shop.order('Tea', 'unpaid'));
    await error.waitFor({ state: 'hidden' });
  });

  it('shows a task as done when it is due', async () => {
    await shop.page.getByLabel('Task', { exact: true }).fill('Water the plants');
    await shop.page.getByLabel('Due in').fill('0.5');
    await shop.page.getByRole('button', { name: 'Add' }).click();
    const task = shop.page.getByRole('listitem').filter({ hasText: 'Water the plants' });
    await expectVisible(task.filter({ hasText: 'done at' }));
  });

  it('reconnects automatically when the shop is back', async () => {
    await shop.place('Tea', '10', 'minutes');
    await expectVisible(shop.order('Tea', 'unpaid'));
    const { port } = new URL(running.app.url);
    await running.app.end();
    await expectVisible(shop.badge('Reconnecting…'));
    await running.startApp({ PORT: port });
    await expectVisible(shop.badge('Live'), 15_000);
    await shop.pay('Tea');
    await expectVisible(shop.order('Tea', 'paid'));
  });

  it('has a board that loads nothing from other hosts', async () => {
    const page = await shop.context.newPage();
    const foreign: string[] = [];
    // Requests that the browser itself refuses never arrive here.
    await page.route(
      (url) => url.origin !== running.app.url,
      (route) => {
        foreign.push(route.request().url());
        return route.abort();
      },
    );
    await page.goto(`${running.app.url}/board`);
    await expectVisible(page.getByText('orders').first());
    expect(foreign).toEqual([]);
  });

  it('does not run code contained in the name of an item', async () => {
    await shop.place('<img src=x onerror="document.title=1">', '10', 'minutes');
    await expectVisible(shop.order('<img src=x'));
    expect(await shop.page.title()).toBe('Shop · nestjs-delay-queue');
  });
});
