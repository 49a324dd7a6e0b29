import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { accessibilityProblems } from './accessibility.js';
import { RunningShop } from './running-shop.js';
import { expectVisible, type ShopPage } from './shop-page.js';

/** The number of columns of cards at each width. */
const COLUMNS = new Map([
  [320, 1],
  [768, 2],
  [1280, 2],
  [1920, 3],
]);
const LONG = 'An-order-with-a-name-that-has-no-place-where-a-line-could-be-broken-and-is-as-long-as-it-may-be';

describe('the sample page from 320 to 1920 px, light and dark', () => {
  const running = new RunningShop();
  let shop: ShopPage;

  beforeEach(() => {
    shop = running.page;
  });

  it('is accessible and fits while it is empty', async () => {
    await expectFit();
  });

  it('animates nothing for users who prefer reduced motion', async () => {
    const still = await running.openPage({ reducedMotion: 'reduce' });
    await shop.place('Tea', '0.2');
    for (const page of [shop, still]) await expectVisible(page.order('Tea', 'cancelled'));
    expect(await still.inspect('moving')).toEqual([]);
    // For others, it is animated.
    expect(await shop.inspect('moving')).toEqual(['settle-bad']);
    await still.context.close();
  });

  it('keeps each card in its column as it grows, and the focus in place when the columns change', async () => {
    await shop.page.setViewportSize({ width: 1280, height: 900 });
    const before = await columnOfEach();
    const left = Object.keys(before).filter((id) => before[id] === Math.min(...Object.values(before)));
    for (const id of left) await shop.page.locator(`#${id} summary`).click();
    await until(async () => (await shop.page.locator('.code:has(.copy)').count()) === left.length);
    await shop.page.getByRole('button', { name: 'Change the catalogue' }).click();
    expect(await columnOfEach()).toEqual(before);
    await shop.page.setViewportSize({ width: 320, height: 900 });
    await until(async () => new Set(Object.values(await columnOfEach())).size === 1);
    expect(await shop.inspect('focused')).toBe('Change the catalogue');
  });

  it('is accessible and fits with all of its content', async () => {
    const { app } = running;
    await app.post('/controls/fail');
    await app.place({ item: LONG, payWithin: 0 });
    await app.post('/worker/freeze');
    await until(async () => (await shop.count('dead')) === '1', { within: 15_000 });
    await app.post('/controls/mend');
    await app.post('/controls/pause');
    await app.place({ item: 'Tea', payWithin: 0 });
    await app.place({ item: LONG, payWithin: '1h' });
    const paid = await app.place({ item: 'Cake', payWithin: '1h' });
    await app.post(`/orders/${paid}/pay`);
    await app.post('/add?task=x&delay=0s');
    await app.post('/orders/batch');
    await shop.place('Tea', 'soon');
    for (const name of [
      ...['Start a checkout', 'Edit the draft', 'Change the catalogue', 'Change the catalogue'],
      ...['Send 7 mails', 'Repeat every 2 s'],
    ]) {
      await shop.page.getByRole('button', { name }).click();
    }
    const summaries = await shop.page.locator('summary').all();
    for (const summary of summaries) await summary.click();
    await until(async () => (await shop.page.locator('.code:has(.copy)').count()) === summaries.length);
    await expectVisible(shop.page.getByText('Paused in every process'));
    await expectVisible(shop.page.getByText('found its leases lost'), 20_000);
    await expectFit();
  });

  it('is accessible and fits while Redis is down', async () => {
    await running.redis.kill9();
    await expectVisible(shop.badge('Redis is down'));
    await expectFit();
  });

  function columnOfEach(): Promise<Record<string, number>> {
    return shop.inspect('columns');
  }

  async function expectFit(): Promise<void> {
    for (const [width, columns] of COLUMNS) {
      await shop.page.setViewportSize({ width, height: 900 });
      await until(async () => new Set(Object.values(await columnOfEach())).size === columns);
      expect(await shop.inspect('tooWide')).toEqual([]);
      expect(await shop.inspect('clipped')).toEqual([]);
    }
    for (const [width, colorScheme] of [
      [320, 'dark'],
      [1280, 'light'],
      [1280, 'dark'],
    ] as const) {
      await shop.page.setViewportSize({ width, height: 900 });
      await shop.page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(shop.page)).toEqual([]);
    }
    expect(await shop.inspect('undescribed')).toEqual([]);
    expect(await shop.inspect('nameless')).toEqual([]);
    expect(await shop.inspect('brokenReferences')).toEqual([]);
    expect(shop.problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  }
});
