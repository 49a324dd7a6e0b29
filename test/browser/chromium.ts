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
