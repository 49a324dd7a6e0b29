/**
 * Prepares a run of the benchmark: installs its packages, builds the library as users get it, and compiles the benchmark
 * itself. A loader would cost each of its many processes two seconds.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';
import { install } from './install.js';

const bench = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

/** The library can be built again while the benchmark runs on a copy. */
function copyLibrary(from) {
  rmSync(`${bench}dist/library`, { recursive: true, force: true });
  mkdirSync(`${bench}dist`, { recursive: true });
  cpSync(from, `${bench}dist/library`, { recursive: true });
}

/** The tests and the benchmark share one build of the Java program. */
function linkJavaPeer(peer, link) {
  rmSync(link, { force: true });
  symlinkSync(peer, link);
}

install(bench);
run('npm', ['run', 'build:lib'], root);
copyLibrary(`${root}dist/lib`);
// `npm run typecheck` checks it, with everything else.
run('npx', ['tsc', '-p', 'tsconfig.json', '--noCheck'], bench);
cpSync(`${bench}src/adapters/floor/lua`, `${bench}dist/bench/src/adapters/floor/lua`, { recursive: true });
linkJavaPeer(`${root}test/redisson/peer`, `${bench}dist/test/redisson/peer`);
