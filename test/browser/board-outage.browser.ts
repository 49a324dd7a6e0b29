import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { UnauthorizedException } from '@nestjs/common';
import type { DelayQueueBoardOptions } from 'nestjs-delay-queue-board';
import type { Browser } from 'playwright-core';
import { type Framework, type PageApplication, startPageApplication } from '../support/board/page-application.js';
import { sampleQueues } from '../support/board/sample-queues.js';
import { randomName } from '../support/random-name.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { BoardPage, buildBoardPage } from './board-page.js';
import { startChromium } from './chromium.js';
import { expectVisible } from './shop-page.js';

describe("the board's page when something is away, or not allowed", () => {
  let browser: Browser;
  let redis: TestRedis;
  let application: PageApplication;
  let board: BoardPage;

  jest.setTimeout(300_000);
  beforeAll(async () => {
    [browser] = await Promise.all([startChromium(), buildBoardPage()]);
  });
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    expect(board.problems).toEqual([]);
    await board.close();
    await application.close();
    await redis.stop();
  });
  afterAll(() => browser.close());

  async function start(options: DelayQueueBoardOptions = {}, framework?: Framework): Promise<void> {
    const parts = sampleQueues(redis.url, randomName('board'));
    application = await startPageApplication({ parts, board: options, ...(framework && { framework }) });
    const { producer } = application;
    await producer.offer('emails', { to: 'ada@example.com' }, '1h', { id: 'welcome:ada', type: 'welcome' });
    board = await BoardPage.open(browser, application.board.url);
  }

  it.each([
    ['the overview, by its events', '/', () => board.row('emails')],
    ['the future', '/i/-/queues/emails?span=day', () => board.text('message falls due in the next day')],
    ['one message', '/i/-/queues/emails/message?id=welcome:ada', () => board.text('"ada@example.com"')],
  ])('says that Redis is away and recovers by itself: %s', async (_, path, shown) => {
    await start();
    await board.goto(path);
    await expectVisible(shown());
    await redis.freeze();
    await expectVisible(board.said('Redis is away'), 20_000);
    await expectVisible(board.page.getByRole('alert').getByText('What you see may be out of date.'));
    await expectVisible(shown());
    await redis.thaw();
    await expectVisible(board.said('Live'), 20_000);
    await board.page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('loads while Redis is away, and shows its view once Redis is back', async () => {
    await start();
    await redis.freeze();
    await board.goto('/i/-/queues/emails/messages');
    await expectVisible(board.said('Redis is away'), 20_000);
    await redis.thaw();
    await expectVisible(board.row('welcome:ada'), 20_000);
  });

  it('says that the application does not answer', async () => {
    await start();
    await board.goto('/');
    await expectVisible(board.row('emails'));
    await application.close();
    await expectVisible(board.said('No answer'), 20_000);
    await expectVisible(board.row('emails'));
  });

  it.each([
    ['overview', '/'],
    ['message', '/i/-/queues/emails/message?id=welcome:ada'],
  ])('says that the session has ended, with a link that loads the page again: %s', async (_, path) => {
    let isSignedIn = true;
    const canActivate = () => {
      if (isSignedIn) return true;
      throw new UnauthorizedException('Sign in first.');
    };
    await start({ guards: [{ canActivate }] });
    await board.goto(path);
    await expectVisible(board.text(path === '/' ? 'emails' : '"ada@example.com"'));
    expect(await board.page.getByText('This board has no guards').count()).toBe(0);
    isSignedIn = false;
    // A stream of events passes the guards again every minute.
    await expectVisible(board.text('Your session has ended.'), 90_000);
    isSignedIn = true;
    await board.link('Reload the page').click();
    await expectVisible(board.said('Live'));
    await expectVisible(board.text(path === '/' ? 'emails' : '"ada@example.com"'));
  });

  it('hides every change from those who may not make any', async () => {
    await start({ readOnly: true });
    await board.goto('/i/-/queues/emails/message?id=welcome:ada');
    await expectVisible(board.text('"ada@example.com"'));
    await expectVisible(board.text('you may look at everything and change nothing'));
    for (const name of ['Pause', 'Deliver now', 'Reschedule…', 'Edit…', 'Cancel…']) {
      expect(await board.button(name).count()).toBe(0);
    }
    await board.gotoQueue('emails', '/messages');
    await expectVisible(board.row('welcome:ada'));
    expect(await board.page.getByRole('checkbox').count()).toBe(0);
    expect(await board.button('Cancel…').count()).toBe(0);
  });

  it('shows only what is left of payloads that are redacted', async () => {
    await start({ show: () => ({ payload: { to: '…' } }) });
    await board.goto('/i/-/queues/emails/message?id=welcome:ada');
    await expectVisible(board.text('"…"'));
    expect(await board.page.getByText('ada@example.com').count()).toBe(0);
    expect(await board.button('Edit…').count()).toBe(0);
    await board.gotoQueue('emails', '/messages');
    await expectVisible(board.row('welcome:ada'));
    expect(await board.page.getByLabel('Text in payload or headers').count()).toBe(0);
  });

  it('works below any path, on Fastify', async () => {
    await start({ path: '/admin/queues' }, 'Fastify');
    await board.goto('/i/-/queues/emails/message?id=welcome:ada');
    await expectVisible(board.text('"ada@example.com"'));
    await board.button('Deliver now').click();
    await expectVisible(board.said('The message is due now.'));
    await board.link('Queues').first().click();
    await expectVisible(board.row('emails'));
    expect(new URL(board.page.url()).pathname).toBe('/admin/queues/i/-');
  });
});
