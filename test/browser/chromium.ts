import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { isExecutable } from '../support/is-executable.js';
import { canInstallPackages, installPackage } from '../support/redis/debian-package.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts this machine's Chromium, and installs it first if possible. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium() ?? installChromium();
  return chromium.launch({ executablePath, headless: true, args: ARGUMENTS });
}

/** Returns the memory of the process that draws the pages, bytes: its own, and its share of what it shares with others. */
export async function rendererMemory(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const kilobytes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))![1]));
  return Math.max(...kilobytes) * 1024;
}

function findChromium(): string | undefined {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function installChromium(): string {
  if (canInstallPackages()) {
    console.log('Chromium not found, installing the package chromium with apt-get.');
    installPackage('chromium');
  }
  const installed = findChromium();
  if (installed === undefined) {
    throw new Error(
      'The tests of the page need Chromium: install it so that chromium or google-chrome is on the PATH.',
    );
  }
  return installed;
}
