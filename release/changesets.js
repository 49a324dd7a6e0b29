import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT } from './packages.js';

if (Number(process.versions.node.split('.')[0]) < 22) {
  throw new Error(`changesets needs Node.js 22.11 or newer, and this is ${process.version}: use Node.js 24.`);
}

const FOLDER = join(ROOT, 'release');

/** Runs changesets, which the first run installs. */
export function runChangesets(args, cwd) {
  if (!isInstalled()) execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'inherit' });
  const program = join(FOLDER, 'node_modules', '@changesets', 'cli', 'bin.js');
  execFileSync(process.execPath, [program, ...args], { cwd, stdio: 'inherit' });
}

/** npm keeps a lock file of what it has installed. */
function isInstalled() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    join(FOLDER, file),
  );
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}
