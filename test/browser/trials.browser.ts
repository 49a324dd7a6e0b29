import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { until } from '../support/until.js';
import { accessibilityProblems } from './accessibility.js';
import { RunningShop } from './running-shop.js';
import { expectVisible, type ShopPage } from './shop-page.js';

describe('the trials on the sample page', () => {
  const running = new RunningShop({ anew: 'page' });
  let shop: ShopPage;

  beforeEach(() => {
    shop = running.page;
  });

  afterEach(() => {
    expect(shop.problems).toEqual([]);
  });

  const press = (name: string) => shop.page.getByRole('button', { name, exact: true }).click();

  it('complete a checkout once, either as paid or as timed out', async () => {
    const { page } = shop;
    const log = page.getByRole('log', { name: 'Paid or timed out' });
    await press('Pay it');
    await expectVisible(log.getByText('Too late: no checkout waits'));
    await press('Start a checkout');
    await expectVisible(log.getByText(/^Times out in [\d.]+ s$/));
    await press('Pay it');
    await expectVisible(log.getByText('Handled once, as paid'));
    await press('Start a checkout');
    await expectVisible(log.getByText('Handled once, as timed out'), 12_000);
    expect(await log.getByText('Handled once, as paid').count()).toBe(1);
  });

  it('save a draft once after many edits, at most five seconds after the first', async () => {
    const log = shop.page.getByRole('log', { name: 'Debounce' });
    const began = performance.now();
    const took = () => performance.now() - began;
    let edits = 0;
    for (; (await log.getByText('Saved once').count()) === 0 && took() < 8000; edits++) await press('Edit the draft');
    // Without an end, it would never be saved: it is edited all the time.
    expect(took()).toBeGreaterThan(4500);
    expect(took()).toBeLessThan(8000);
    expect(edits).toBeGreaterThan(3);
    await expectVisible(log.getByText(/^Saved once, with edit \d+/).first());
  });

  it('start only one more run for all the changes that arrive during a run', async () => {
    const log = shop.page.getByRole('log', { name: 'Once more' });
    await press('Change the catalogue');
    await expectVisible(log.getByText('A run begins, with change 1'));
    for (let change = 0; change < 3; change++) await press('Change the catalogue');
    await expectVisible(log.getByText('Change 4 came meanwhile: one more run follows'));
    await expectVisible(log.getByText('A run begins, with change 4'), 8000);
    await until(async () => (await log.getByText('The run ends').count()) === 2, { within: 30_000 });
  });

  it("send each customer's emails in order, round-robin across customers", async () => {
    const log = shop.page.getByRole('log', { name: 'In order for each customer' });
    await press('Send 7 mails');
    await expectVisible(log.getByText(/^7 mails are due in [\d.]+ s$/));
    const sent = log.getByText(/^Mail \d to \w+, [\d,]+ ms late$/);
    await until(async () => (await sent.count()) === 7, { within: 30_000 });
    const mails = (await sent.allTextContents()).map((text) => /Mail \d to \w+/.exec(text)![0]);
    expect(mails).toEqual([
      'Mail 1 to Ada',
      'Mail 5 to Grace',
      'Mail 7 to Edsger',
      'Mail 2 to Ada',
      'Mail 6 to Grace',
      'Mail 3 to Ada',
      'Mail 4 to Ada',
    ]);
    expect(await accessibilityProblems(shop.page)).toEqual([]);
  });

  it('repeat a reminder on schedule, within milliseconds of each time, until it is stopped', async () => {
    const log = shop.page.getByRole('log', { name: 'By the calendar' });
    await press('Stop repeating');
    await expectVisible(log.getByText('Nothing to stop'));
    await press('Repeat every 2 s');
    await expectVisible(log.getByText(/^The next one comes in [\d.]+ s$/));
    const reminders = log.getByText(/^\d\d:\d\d:\d[02468]: Blink, [\d,]+ ms late$/);
    await until(async () => (await reminders.count()) >= 2, { within: 30_000 });
    // The machine may stall for a while, but not every time.
    expect(Math.min(...(await lateness(reminders)))).toBeLessThan(100);
    expect(await accessibilityProblems(shop.page)).toEqual([]);
    await press('Stop repeating');
    await expectVisible(log.getByText('Stopped'));
    await press('Stop repeating');
    await expectVisible(log.getByText('Nothing to stop').last());
  });
});

async function lateness(lines: Locator): Promise<number[]> {
  const texts = await lines.allTextContents();
  return texts.map((text) => Number(/([\d,]+) ms/.exec(text)![1]!.replaceAll(',', '')));
}
