import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { install } from '../bench/install.js';
import { ROOT } from './packages.js';

if (Number(process.versions.node.split('.')[0]) < 22) {
  throw new Error(`changesets needs Node.js 22.11 or newer, and this is ${process.version}: use Node.js 24.`);
}

const FOLDER = join(ROOT, 'release');

/** Runs changesets, which the first run installs. */
export function runChangesets(args, cwd) {
  install(FOLDER);
  const program = join(FOLDER, 'node_modules', '@changesets', 'cli', 'bin.js');
  execFileSync(process.execPath, [program, ...args], { cwd, stdio: 'inherit' });
}
