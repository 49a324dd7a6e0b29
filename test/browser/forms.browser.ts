import { beforeEach, describe, expect, it } from '@jest/globals';
import { RunningShop } from './running-shop.js';
import { expectVisible, type ShopPage } from './shop-page.js';

describe('the forms of the sample page', () => {
  const running = new RunningShop({ store: 'memory', anew: 'shop' });
  let shop: ShopPage;

  beforeEach(() => {
    shop = running.page;
  });

  it('read a time as a number in the chosen unit, which defaults to seconds', async () => {
    await shop.place('Tea', '30');
    await expectVisible(shop.order('Tea', 'unpaid'));
    expect(await shop.order('Tea').locator('.time').textContent()).toMatch(/^(30\.0|29\.\d|28\.\d) s$/);
    await shop.place('Coffee', '1.5', 'minutes');
    await expectVisible(shop.order('Coffee', 'unpaid'));
    expect(await shop.order('Coffee').locator('.time').textContent()).toMatch(/^1:(30|2\d)$/);
  });

  it("never promise more time than requested, however late the clock's update arrives", async () => {
    await shop.page.evaluate(`import('/server-clock.js').then(
      ({ setServerTime }) => setServerTime(new Date(Date.now() - 5000).toISOString())
    )`);
    await shop.place('Tea', '30');
    await expectVisible(shop.order('Tea', 'unpaid'));
    expect(await shop.order('Tea').locator('.time').textContent()).toMatch(/^(30\.0|29\.\d|28\.\d) s$/);
  });

  it('refuse a time that is not a number, say why and keep the focus', async () => {
    const time = shop.page.getByLabel('Pay within');
    const error = shop.page.getByRole('alert').filter({ hasText: 'Pay within must be a number, such as 30' });
    for (const payWithin of ['', 'soon', '5m', '1,000', '-1', '1e400']) {
      await shop.place('Milk', payWithin);
      await expectVisible(error.filter({ hasText: payWithin === '' ? 'such as 30' : `not ${payWithin}` }));
      expect(await shop.inspect('focused')).toBe('Place order');
    }
    expect(await shop.order('Milk').count()).toBe(0);
    await time.fill('30');
    await time.press('Enter');
    await expectVisible(shop.order('Milk', 'unpaid'));
    expect(await error.count()).toBe(0);
  });

  it('show a task added by its URL, but not one requested by a page of another site', async () => {
    const { app, browser } = running;
    const foreign = await browser.newPage();
    // The same server, but to the browser another site.
    await foreign.goto(`${app.url.replace('127.0.0.1', 'localhost')}/health`);
    await foreign.evaluate(`fetch('${app.url}/add?task=forged', { mode: 'no-cors' })`);
    const typed = await foreign.goto(`${app.url}/add?task=sanyou&delay=1s`);
    expect(typed!.status()).toBe(200);
    await foreign.close();
    const tasks = shop.page.locator('#tasks');
    await expectVisible(tasks.getByText('sanyou'));
    await expectVisible(tasks.getByText(/^done at /));
    expect(await tasks.getByText('forged').count()).toBe(0);
  });

  it('give every control a name, and describe it by the error of its own form', async () => {
    expect(await shop.inspect('undescribed')).toEqual([]);
    expect(await shop.inspect('nameless')).toEqual([]);
    expect(await shop.inspect('brokenReferences')).toEqual([]);
  });

  it('keep the focus in place when an order is paid by keyboard, and announce the payment', async () => {
    for (const item of ['Cake', 'Honey']) {
      await shop.place(item, '10', 'minutes');
      await expectVisible(shop.order(item, 'unpaid'));
    }
    await shop.page.getByRole('button', { name: 'Pay Honey' }).focus();
    await shop.page.keyboard.press('Enter');
    await expectVisible(shop.order('Honey', 'paid'));
    await expectVisible(shop.page.getByRole('status').filter({ hasText: 'Honey is paid' }));
    // Not on the next button: a key held down or pressed twice would pay that order as well.
    expect(await shop.inspect('focused')).toContain('Honey');
    await shop.page.keyboard.press('Tab');
    expect(await shop.inspect('focused')).toBe('Pay Cake');
    await shop.page.keyboard.press('Space');
    await expectVisible(shop.order('Cake', 'paid'));
    expect(await shop.inspect('focused')).toContain('Cake');
  });
});
