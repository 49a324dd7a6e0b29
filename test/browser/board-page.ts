import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

const INSPECT = fileURLToPath(new URL('./inspect.js', import.meta.url));
const BUILD = fileURLToPath(new URL('../../packages/board/page/build.js', import.meta.url));

/** Builds the page from its sources, as they are now. An application reads it when it starts. */
export async function buildBoardPage(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILD]);
}

/** The board's page, in terms of what people read on it. */
export class BoardPage {
  /** Errors of scripts, and what the content security policy has refused. */
  readonly problems: string[] = [];

  private constructor(
    readonly page: Page,
    /** Of the board, without a slash at its end. */
    readonly url: string,
  ) {
    page.setDefaultTimeout(15_000);
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => {
      // The status of an answer, which the page shows.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.problems.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.problems.push(`A script of a message has run: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<BoardPage> {
    const context = await browser.newContext({ timezoneId: 'Europe/Berlin', ...options });
    const board = new BoardPage(await context.newPage(), url);
    await board.page.addInitScript({ path: INSPECT });
    return board;
  }

  /** Opens a view by its address. */
  async goto(path: string): Promise<void> {
    await this.page.goto(`${this.url}${path}`);
    await this.heading.waitFor();
  }

  /** Opens a view of a queue of the unnamed instance. */
  gotoQueue(queue: string, view = ''): Promise<void> {
    return this.goto(`/i/-/queues/${queue}${view}`);
  }

  get heading(): Locator {
    return this.page.getByRole('heading', { level: 1 });
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** A row of a table, by the name or id that it begins with. */
  row(name: string): Locator {
    return this.page
      .getByRole('row')
      .filter({ has: this.page.getByRole('rowheader').getByText(name, { exact: true }) });
  }

  link(name: string): Locator {
    return this.page.getByRole('link', { name, exact: true });
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** A button of the dialog that is open. */
  async confirm(name: string): Promise<void> {
    await this.dialog.getByRole('button', { name, exact: true }).click();
  }

  /** What is said by what lately appeared, for people who do not see the page. */
  said(text: string): Locator {
    return this.page.getByRole('status').getByText(text);
  }

  text(text: string): Locator {
    return this.page.getByText(text).first();
  }

  inspect<Answer>(question: 'tooWide' | 'clipped' | 'nameless' | 'brokenReferences' | 'focused'): Promise<Answer> {
    return this.page.evaluate<Answer>(`window.inspect.${question}()`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
