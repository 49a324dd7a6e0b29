/**
 * Gets ready what the benchmark runs: its own packages, the library as users get it, and the benchmark itself, compiled,
 * because a loader would cost each of its many processes two seconds.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';

const bench = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

/** npm notes what it has installed in a lock file of its own. */
function isInstalled() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => `${bench}${file}`);
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

/** A copy, so that the library can be built anew while the benchmark runs. */
function copyLibrary(from) {
  rmSync(`${bench}dist/library`, { recursive: true, force: true });
  mkdirSync(`${bench}dist`, { recursive: true });
  cpSync(from, `${bench}dist/library`, { recursive: true });
}

if (!isInstalled()) run('npm', ['ci', '--no-audit', '--no-fund'], bench);
run('npm', ['run', 'build:lib'], root);
copyLibrary(`${root}dist/lib`);
// `npm run typecheck` checks it, with everything else.
run('npx', ['tsc', '-p', 'tsconfig.json', '--noCheck'], bench);
cpSync(`${bench}src/adapters/floor/lua`, `${bench}dist/bench/src/adapters/floor/lua`, { recursive: true });
