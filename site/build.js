/**
 * Builds the documentation site into `site/dist`: installs its packages, writes the API reference from the sources, bundles the
 * demonstration of the landing page, and renders everything with VitePress.
 */
import { execFileSync } from 'node:child_process';
import console from 'node:console';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';

const SITE = fileURLToPath(new URL('.', import.meta.url));

const run = (command, args) => execFileSync(command, args, { cwd: SITE, stdio: ['ignore', 'inherit', 'inherit'] });

/** npm keeps a lock file of what it has installed. */
function isInstalled() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => join(SITE, file));
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

if (!isInstalled()) run('npm', ['ci', '--no-audit', '--no-fund']);
run('npx', ['typedoc', '--options', 'typedoc.json']);
const { buildDemo } = await import('./demo/build.js');
console.log(`The demonstration has ${Math.round((await buildDemo()) / 1024)} KiB.`);
run('npx', ['vitepress', 'build']);
