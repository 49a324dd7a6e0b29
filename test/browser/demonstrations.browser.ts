import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SampleApp } from '../programs/sample-app.process.js';
import { until } from '../support/until.js';
import { RunningShop } from './running-shop.js';
import { expectVisible, ShopPage } from './shop-page.js';

describe('the demonstrations on the sample page', () => {
  const running = new RunningShop({ anew: 'page' });
  let shop: ShopPage;

  beforeEach(() => {
    shop = running.page;
  });

  afterEach(() => {
    expect(shop.problems).toEqual([]);
  });

  const press = (name: string) => shop.page.getByRole('button', { name, exact: true }).click();
  const done = async () => Number((await shop.count('done'))!.replaceAll(',', ''));
  const toggle = (name: string) => shop.page.getByRole('switch', { name });

  it('show the lateness of each message, and percentiles over the latest messages', async () => {
    await shop.place('Tea', '0.3');
    await expectVisible(shop.order('Tea', 'cancelled').getByText(/\d\d:\d\d:\d\d, [\d,]+ ms late/));
    await expectVisible(shop.page.getByText('One so far.'));
    expect(await shop.page.locator('#p50').textContent()).toMatch(/^[\d,]+ ms$/);
    expect(await shop.page.locator('#p99').textContent()).toMatch(/^[\d,]+ ms$/);
  });

  it('place a thousand orders due together while the list stays short and usable', async () => {
    const doneBefore = await done();
    const headline = () => shop.page.locator('.figures').textContent();
    const before = await headline();
    await shop.place('Coffee', '10', 'minutes');
    await expectVisible(shop.order('Coffee', 'unpaid'));
    await press('Place 1,000 orders');
    await expectVisible(shop.page.getByText('1,000 orders are due in'));
    await until(async () => (await shop.count('delayed')) === '1,001', { within: 3000 });
    await expectVisible(shop.page.getByText(/All 1,000 cancelled .* after they were due/), 20_000);
    await until(async () => (await done()) === doneBefore + 1000);
    // The lateness of a burst says nothing about a single order, and has a place of its own.
    expect(await headline()).toBe(before);
    expect(await shop.order('of 1,000', 'cancelled').count()).toBe(3);
    await shop.pay('Coffee');
    await expectVisible(shop.order('Coffee', 'paid'));
  });

  it('show the attempts and dead letters of a failing handler, and redrive one or all of them', async () => {
    const doneBefore = await done();
    await toggle('Handler fails').click();
    await toggle('Handler fails').and(shop.page.locator('[aria-checked=true]')).waitFor();
    const outcome = shop.page.locator('#failures').getByRole('status');
    await expectVisible(outcome.getByText('The handler fails now.'));
    await press('Place 3 orders due now');
    await expectVisible(outcome.getByText('3 orders are placed and due now.'));
    await expectVisible(shop.page.getByText('attempt 1 failed').first());
    const letters = shop.page.getByRole('list', { name: 'Dead letters' }).getByRole('listitem');
    await until(async () => (await letters.count()) === 3, { within: 15_000 });
    await expectVisible(letters.first().getByText('4 attempts: The handler is switched to fail'));
    expect(await shop.count('dead')).toBe('3');

    await toggle('Handler fails').click();
    await expectVisible(outcome.getByText('The handler works again.'));
    await letters.first().getByRole('button').click();
    await until(async () => (await letters.count()) === 2);
    await expectVisible(outcome.getByText('1 dead letter is redriven: it is due now.'));
    // The focus must not vanish with the button.
    expect(await shop.inspect('focused')).toBe('Handler fails');
    await press('Redrive all');
    await expectVisible(outcome.getByText('2 dead letters are redriven: they are due now.'));
    await until(async () => (await letters.count()) === 0);
    await until(async () => (await done()) === doneBefore + 3);
    expect(await shop.inspect('focused')).toBe('Handler fails');
  });

  it("show that an order's message is a dead letter, and redrive it from its place in the list", async () => {
    await toggle('Handler fails').click();
    await toggle('Handler fails').and(shop.page.locator('[aria-checked=true]')).waitFor();
    await shop.place('Pie', '0');
    await expectVisible(shop.order('Pie', 'dead').getByText('4 attempts failed'), 15_000);
    await toggle('Handler fails').click();
    await toggle('Handler fails').and(shop.page.locator('[aria-checked=false]')).waitFor();
    await press('Redrive Pie');
    await expectVisible(shop.order('Pie', 'cancelled'));
    // The focus must not vanish with the button.
    expect(await shop.page.evaluate<boolean>("document.activeElement.matches('.order')")).toBe(true);
  });

  it('do not offer to redrive an order whose dead letter was discarded, but still accept payment for it', async () => {
    const redrive = shop.page.getByRole('button', { name: 'Redrive Plum' });
    await toggle('Handler fails').click();
    await toggle('Handler fails').and(shop.page.locator('[aria-checked=true]')).waitFor();
    await shop.place('Plum', '0');
    await expectVisible(redrive, 15_000);
    await toggle('Handler fails').click();
    await toggle('Handler fails').and(shop.page.locator('[aria-checked=false]')).waitFor();
    await press('Discard all');
    await expectVisible(shop.page.locator('#failures').getByText('1 dead letter is discarded.'));
    await redrive.waitFor({ state: 'hidden', timeout: 5000 });
    await shop.page.reload();
    await expectVisible(shop.order('Plum', 'unpaid').getByText('4 attempts failed'));
    expect(await redrive.count()).toBe(0);
    await shop.pay('Plum');
    await expectVisible(shop.order('Plum', 'paid'));
  });

  it('abort an export, and its handler stops within half a second', async () => {
    await press('Start an export');
    await expectVisible(shop.page.getByText(/^\d+ % written$/));
    await press('Abort');
    const outcome = shop.page.getByText(/^Its handler stopped [\d,]+ ms after you asked, and the message is gone\.$/);
    await expectVisible(outcome);
    expect(Number(/[\d,]+/.exec((await outcome.textContent())!)![0].replaceAll(',', ''))).toBeLessThan(500);
    await until(async () => (await shop.page.getByRole('button', { name: 'Abort' }).isDisabled()) === true);
  });

  it('do not send a coupon that has expired', async () => {
    await press('Send 6 coupons');
    const coupons = shop.page.getByRole('list', { name: 'Coupons' }).getByRole('listitem');
    await until(
      async () => (await coupons.filter({ hasText: /waiting$/ }).count()) === 0 && (await coupons.count()) === 6,
    );
    expect(await coupons.filter({ hasText: 'sent' }).first().textContent()).toContain('Coupon 1');
    expect(await coupons.filter({ hasText: 'expired' }).last().textContent()).toContain('Coupon 6');
  });

  it('have coloured code that can be copied', async () => {
    const { page, context } = shop;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('#pause summary').click();
    const code = page.locator('#pause code');
    await expectVisible(code);
    expect(await code.locator('.is-word').first().textContent()).toBe('async');
    await page.locator('#pause .copy').click();
    await expectVisible(page.locator('#pause .copy').getByText('Copied'));
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(await code.textContent());
  });

  it('begin once per tab with a first order, which is cancelled on time', async () => {
    const small = await SampleApp.start();
    const first = await ShopPage.openFirst(running.browser, small.url);
    const item = 'A first order, placed for you';
    await expectVisible(first.order(item, 'unpaid'));
    await expectVisible(first.order(item, 'cancelled').getByText(/, \d+ ms late$/), 10_000);
    await first.page.reload();
    await expectVisible(first.order(item, 'cancelled'));
    expect(await first.order(item).count()).toBe(1);
    await first.context.close();
    await small.end();
  });

  it('pause the queue in one tab and resume it in another', async () => {
    await toggle('Queue paused').click();
    const other = await running.openPage();
    await other.page.getByRole('switch', { name: 'Queue paused', checked: true }).waitFor();
    await shop.place('Cake', '0');
    await expectVisible(shop.order('Cake').getByText('paused'));
    await until(async () => (await shop.count('ready')) === '1');
    await other.page.getByRole('switch', { name: 'Queue paused' }).click();
    await expectVisible(shop.order('Cake', 'cancelled'));
    await other.context.close();
  });

  it('show orders delayed by a pause separately and leave the headline unchanged', async () => {
    await shop.place('Jam', '0');
    await expectVisible(shop.order('Jam', 'cancelled'));
    const figures = () => shop.page.locator('.figures dl').textContent();
    await until(async () => /\d ms/.test((await figures())!));
    const before = await figures();
    await toggle('Queue paused').click();
    await shop.place('Cookie', '0');
    await expectVisible(shop.order('Cookie').getByText('paused'));
    await press('Place 1,000 orders');
    await until(async () => (await shop.count('ready')) === '1,001', { within: 10_000 });
    await toggle('Queue paused').click();
    await expectVisible(shop.order('Cookie', 'cancelled').getByText(/, held up by a pause$/));
    await expectVisible(shop.page.locator('#lateness-count').getByText(/A pause held up \d+ more\.$/));
    await expectVisible(
      shop.page.getByText(/All 1,000 cancelled [\d.,]+ m?s after they were due: a pause held up 1,000 of them\./),
      20_000,
    );
    expect(await figures()).toBe(before);
  });

  it('freeze a worker and show the shop packing its parcels, even on a page opened during the freeze', async () => {
    const freeze = shop.page.getByRole('button', { name: 'Freeze a worker' });
    const isBusy = async () => (await freeze.getAttribute('aria-disabled')) === 'true';
    expect(await isBusy()).toBe(false);
    await freeze.click();
    await expectVisible(shop.page.getByText('Starting a second process…'));
    await until(isBusy);
    await expectVisible(shop.page.getByText(/Process \d+ is frozen/), 20_000);
    const parcels = shop.page.getByRole('list', { name: 'Parcels' }).getByRole('listitem');
    await expectVisible(parcels.getByText('held by the frozen worker').first());
    const late = await running.openPage();
    await expectVisible(late.page.getByText('held by the frozen worker').first());
    // One at a time: the button is off in every tab until the demonstration ends.
    expect(await isBusy()).toBe(true);
    const other = late.page.getByRole('button', { name: 'Freeze a worker' });
    expect(await other.getAttribute('aria-disabled')).toBe('true');
    await freeze.click({ force: true });
    expect(await shop.page.locator('#worker .error').isVisible()).toBe(false);
    await expectVisible(shop.page.getByText(/woke up and found its leases lost/), 20_000);
    await until(async () => (await parcels.filter({ hasText: 'packed here' }).count()) === 8);
    expect(await parcels.filter({ hasText: 'attempt 2' }).count()).toBeGreaterThan(0);
    await until(async () => !(await isBusy()));
    await late.context.close();
  });

  it('refuse to freeze a worker with the memory store, and say why', async () => {
    const small = await SampleApp.start();
    const memory = await ShopPage.open(running.browser, small.url);
    const button = memory.page.getByRole('button', { name: 'Freeze a worker' });
    expect(await button.isDisabled()).toBe(true);
    await expectVisible(memory.page.getByText('Needs a second process, and therefore Redis'));
    await memory.context.close();
    await small.end();
  });
});
