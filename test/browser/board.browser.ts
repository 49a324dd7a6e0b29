import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { BoardApplication } from '../support/board/board-application.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';
import { startChromium } from './chromium.js';
import { expectVisible } from './shop-page.js';

/** The page's buttons for one message have no name, but a picture. */
const PROMOTE = '.lucide-corner-up-left';
const RETRY = '.lucide-refresh-cw';

describe('bull-board in a browser', () => {
  let browser: Browser;
  let redis: TestRedis;
  let board: BoardApplication;
  let page: Page;

  // The browser may have to be installed first.
  jest.setTimeout(300_000);
  beforeAll(async () => {
    [browser, redis] = await Promise.all([startChromium(), startRedis()]);
    board = await BoardApplication.start(redis.url, 'board');
  });
  beforeEach(async () => {
    page = await browser.newPage({ timezoneId: 'UTC' });
  });
  afterEach(() => page.close());
  afterAll(async () => {
    await board.stop();
    await Promise.all([browser.close(), redis.stop()]);
  });

  async function open(status: string): Promise<void> {
    await page.goto(`${board.url}/queue/emails?status=${status}`);
    await expectVisible(page.getByRole('link', { name: 'Delayed' }));
  }

  /** Presses a button of the message that the page shows, and confirms. */
  async function press(button: string): Promise<void> {
    await page
      .getByRole('listitem')
      .getByRole('button')
      .filter({ has: page.locator(button) })
      .last()
      .click();
    await page.getByRole('button', { name: 'Confirm' }).click();
  }

  it('explains what cannot be done and suggests an alternative', async () => {
    await open('delayed');
    await page.locator('main').locator('[aria-haspopup=menu]').click();
    await page.getByRole('menuitem', { name: 'Empty' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expectVisible(page.getByText('Ready messages cannot be removed on their own. Clean the delayed messages,'));
  });

  it('shows a delayed message with its due time and promotes it, after which it is handled', async () => {
    const { timestamp, delay } = (await board.queue('emails', { status: 'delayed' })).jobs[0]!;
    await open('delayed');
    await expectVisible(page.getByText('welcome:ada'));
    const dueAt = new Date(timestamp + delay).toLocaleTimeString('en-US', { timeZone: 'UTC' });
    await expectVisible(page.getByRole('listitem').filter({ hasText: 'Will run at' }).getByText(dueAt));
    expect(board.handled).not.toContain('handled');
    await press(PROMOTE);
    await until(() => board.handled.includes('handled'));
    await expectVisible(page.getByText('No Delayed jobs in this queue.'), 15_000);
  });

  it('shows the error of a dead letter and retries it, after which it is handled', async () => {
    await open('failed');
    await expectVisible(page.getByText('bounce:bob'));
    await expectVisible(page.getByText('RejectMessage: The mailbox is full.'));
    await press(RETRY);
    await until(() => board.handled.includes('handled again'));
    await expectVisible(page.getByText('No Failed jobs in this queue.'), 15_000);
  });
});
