import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DelayQueueProducer, getDelayQueueProducerToken } from 'nestjs-delay-queue';
import type { Browser } from 'playwright-core';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import { offerSamples, sampleQueues } from '../support/board/sample-queues.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { accessibilityProblems } from './accessibility.js';
import { BoardPage, buildBoardPage } from './board-page.js';
import { startChromium } from './chromium.js';
import { expectVisible } from './shop-page.js';

const ASSETS = fileURLToPath(new URL('../../packages/board/dist/page/assets', import.meta.url));
const LONG = 'An-id-that-has-no-place-where-a-line-could-be-broken-and-is-as-long-as-it-may-be'.repeat(3);

/** Each view, with what shows that it is there. */
const VIEWS: readonly (readonly [name: string, path: string, shown: string])[] = [
  ['overview', '/', 'No process handles this queue.'],
  ['future', '/i/-/queues/orders?span=quarter', 'messages fall due in the next'],
  ['messages', '/i/-/queues/orders/messages', 'order:12'],
  ['dead letters', '/i/-/queues/orders/messages?state=dead', 'RejectMessage'],
  ['nothing found', '/i/-/queues/orders/messages?idPrefix=zzz', 'No delayed message matches.'],
  ['message', '/i/-/queues/orders/message?id=order:40', 'customer40@example.com'],
  ['dead letter', '/i/-/queues/orders/message?id=order:1', 'The payment was refused.'],
  ['long', `/i/-/queues/nobody/message?id=${LONG}`, LONG],
  ['errors', '/i/-/queues/orders/errors', 'RejectMessage'],
  ['groups', '/i/-/queues/reminders/groups', 'customer-0'],
  ['repeats', '/i/-/queues/emails/repeats', '0 9 * * 1-5'],
  ['handled', '/i/-/queues/emails/handled', 'welcome:eve'],
  ['handled message', '/i/-/queues/emails/message?id=welcome:eve', 'eve@example.com'],
  ['workers', '/i/-/workers', 'exports'],
];

describe("the board's page from 320 to 1920 px, light and dark", () => {
  let browser: Browser;
  let redis: TestRedis;
  let application: PageApplication;
  let board: BoardPage;

  jest.setTimeout(300_000);
  beforeAll(async () => {
    [browser, redis] = await Promise.all([startChromium(), startRedis(), buildBoardPage()]);
    application = await startPageApplication({ parts: sampleQueues(redis.url, 'board-looks') });
    const { producer } = application;
    await offerSamples(producer, application.app.get<DelayQueueProducer>(getDelayQueueProducerToken('billing')));
    const payload = { [LONG]: LONG, list: Array.from({ length: 300 }, (_, i) => i), text: 'x'.repeat(5000) };
    await producer
      .limits('nobody')
      .set({ globalConcurrency: 5, rate: { max: 100, per: '1m' } }, { by: LONG.slice(0, 200) });
    await producer.offer('nobody', payload, '1h', { id: LONG, headers: { [LONG.slice(0, 60)]: LONG } });
  });
  beforeEach(async () => {
    board = await BoardPage.open(browser, application.board.url);
  });
  afterEach(() => board.close());
  afterAll(async () => {
    await application.close();
    await Promise.all([browser.close(), redis.stop()]);
  });

  it('is at most 120 kB compressed', () => {
    const sizes = readdirSync(ASSETS).map((file) => gzipSync(readFileSync(`${ASSETS}/${file}`)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000);
  });

  it.each(VIEWS)('is accessible and fits: %s', async (_, path, shown) => {
    await board.goto(path);
    await expectVisible(board.text(shown), 15_000);
    await expectFit();
  });

  it.each([
    ['a change of many messages', '/i/-/queues/orders/messages?idPrefix=order:2', 'Cancel…', 'to confirm'],
    ['a new due time', '/i/-/queues/orders/message?id=order:40', 'Reschedule…', 'New due time'],
    ['limits', '/i/-/queues/orders', 'Limits…', 'Handled at once'],
    ['an edit', '/i/-/queues/orders/message?id=order:40', 'Edit…', 'If the queue has a schema'],
  ])('is accessible and fits in a dialog: %s', async (_, path, button, shown) => {
    await board.goto(path);
    await board.button(button).click();
    await expectVisible(board.dialog.getByText(shown).first(), 15_000);
    await expectFit();
  });

  async function expectFit(): Promise<void> {
    for (const width of [320, 390, 768, 1280, 1920]) {
      await board.page.setViewportSize({ width, height: 900 });
      expect({ width, tooWide: await board.inspect('tooWide') }).toEqual({ width, tooWide: [] });
      expect({ width, clipped: await board.inspect('clipped') }).toEqual({ width, clipped: [] });
    }
    for (const [width, colorScheme] of [
      [320, 'dark'],
      [1280, 'light'],
      [1280, 'dark'],
    ] as const) {
      await board.page.setViewportSize({ width, height: 900 });
      await board.page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(board.page)).toEqual([]);
    }
    expect(await board.inspect('nameless')).toEqual([]);
    expect(await board.inspect('brokenReferences')).toEqual([]);
    expect(board.problems).toEqual([]);
  }
});
