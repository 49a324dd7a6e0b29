import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { accessibilityProblems } from '../browser/accessibility.js';
import { startChromium } from '../browser/chromium.js';
import { BOARD_README, OUTBOX_README, docPages, readPage } from '../docs/pages.js';
import { until } from '../support/until.js';
import { BuiltSite } from './built-site.js';

/** Of the reference, which has one form: an entry, a class, an interface, a function and a type. */
const REFERENCE =
  /^\/api\/(nestjs-delay-queue\/)?$|\/(DelayQueueModule|DelayedMessage|DelayQueueEvents|again|Duration)$/;

/** Snippets by page that are not for users of the package: code of BullMQ, and of this project's own tests. */
const NOT_OURS: Readonly<Record<string, number>> = { 'docs/migrating-from-bullmq.md': 1, 'CONTRIBUTING.md': 1 };

describe('the documentation site', () => {
  let site: BuiltSite;
  let browser: Browser;

  // The browser may have to be installed first.
  jest.setTimeout(600_000);
  beforeAll(async () => {
    [site, browser] = await Promise.all([BuiltSite.serve(), startChromium()]);
  });
  afterAll(() => Promise.all([browser.close(), site.stop()]));

  async function open(address: string, settings: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...settings });
    const page = await context.newPage();
    await page.goto(site.url + address, { waitUntil: 'networkidle' });
    return page;
  }

  async function forEachPage(context: BrowserContext, look: (page: Page, address: string) => Promise<string[]>) {
    const addresses = (await BuiltSite.pages()).filter((page) => !page.startsWith('/api/') || REFERENCE.test(page));
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('response', (response) => {
      if (!response.ok()) problems.push(`${page.url()}: ${response.url()} ${response.status()}`);
    });
    for (const address of addresses) {
      await page.goto(site.url + address, { waitUntil: 'networkidle' });
      problems.push(...(await look(page, address)).map((problem) => `${address}: ${problem}`));
    }
    expect(addresses.length).toBeGreaterThan(50);
    return problems;
  }

  it('has pages that fit 320 px, load nothing from other hosts, have no missing files and satisfy axe', async () => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 }, colorScheme: 'light' });
    const foreign = new Set<string>();
    context.on('request', (request) => request.url().startsWith(site.url) || foreign.add(request.url()));
    const problems = await forEachPage(context, async (page) => {
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      return [...(wide > 0 ? [`${wide} px too wide`] : []), ...(await accessibilityProblems(page))];
    });
    expect(problems).toEqual([]);
    expect([...foreign].filter((url) => !url.startsWith('data:'))).toEqual([]);
  });

  it('has pages that satisfy axe in dark mode on a wide screen', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
    expect(await forEachPage(context, (page) => accessibilityProblems(page))).toEqual([]);
  });

  it('cancels an unpaid order on the page with the real module', async () => {
    const page = await open('/');
    await page.getByRole('button', { name: 'Place an order' }).click();
    await page.getByText(/^cancelled, \d+ ms late$/).waitFor({ timeout: 20_000 });
    expect(await page.getByText(/^cancelled, /).count()).toBe(1);
  });

  it('never handles a paid order', async () => {
    const page = await open('/');
    await page.getByRole('button', { name: 'Place an order' }).click();
    await page.getByRole('button', { name: 'Pay order 1' }).click();
    await page.getByText('paid: never handled').waitFor();
    await page.getByRole('button', { name: 'Place an order' }).click();
    await page.getByText(/^cancelled, \d+ ms late$/).waitFor({ timeout: 20_000 });
    expect(await page.getByText('paid: never handled').count()).toBe(1);
  });

  it('shows the figures from docs/benchmarks.md', async () => {
    const row = (await readPage('docs/benchmarks.md'))
      .split('\n')
      .find((line) => line.startsWith('| Draining a backlog: handled'));
    const [, , , ours, , theirs] = row!.split('|').map((cell) => cell.trim().replace(/ ±.*/, ''));
    const page = await open('/');
    const bars = page.getByRole('listitem').filter({ hasText: 'Messages handled of a backlog' });
    expect(await bars.locator('.bars-figure').allTextContents()).toEqual([ours, theirs]);
  });

  it('finds a page by a search word', async () => {
    const page = await open('/guide/');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('#localsearch-input').fill('debounce');
    await page.locator('.result', { hasText: 'Debounce' }).first().waitFor();
    expect(await page.locator('.result').count()).toBeGreaterThan(0);
  });

  it('shows its version', async () => {
    const { version } = JSON.parse(await readPage('package.json')) as { version: string };
    const page = await open('/guide/');
    expect(await page.getByRole('link', { name: `v${version}` }).count()).toBeGreaterThan(0);
  });

  it('lists every guide in llms.txt and contains its text in llms-full.txt', async () => {
    const [list, full] = await Promise.all([BuiltSite.text('llms.txt'), BuiltSite.text('llms-full.txt')]);
    const missing = [];
    for (const document of [...(await docPages()), 'README.md']) {
      const text = await readPage(document);
      if (!full.includes(text)) missing.push(document);
    }
    expect(missing).toEqual([]);
    await until(() => list.includes('(/nestjs-delay-queue/guide/recipes)'));
  });

  it('shows only TypeScript snippets that a test compiles', async () => {
    // The snippets of the outbox are compiled in test/outbox, with their libraries.
    const tested = new Set(['README.md', BOARD_README, OUTBOX_README, ...(await docPages())]);
    const untested = [];
    for (const [document] of await sitePages()) {
      const all = (await readPage(document)).match(/^[ >]*(```|~~~)(ts|typescript|js|javascript)\b/gm) ?? [];
      const compiled = tested.has(document) ? all.filter((fence) => fence === '```ts') : [];
      if (all.length > compiled.length + (NOT_OURS[document] ?? 0))
        untested.push(`${document}: ${all.length - compiled.length}`);
    }
    expect(untested).toEqual([]);
  });

  /** The pages that people write, by their path in the repository. */
  async function sitePages(): Promise<[string, string][]> {
    const { ROUTES } = (await import('../../site/build/routes.js')) as { ROUTES: Record<string, string> };
    return Object.entries(ROUTES).filter(([document]) => !document.startsWith('site/'));
  }

  it("links back to the project's pages rather than to copies of them", async () => {
    await until(async () => (await sitePages()).every(([document]) => !document.startsWith('site/docs')));
    const html = await BuiltSite.text('guide/recipes.html');
    expect(html).toContain('/edit/main/docs/recipes.md');
  });
});
