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

/** The packages can be built again while the benchmark runs on copies. */
function copyPackages() {
  const packages = `${bench}dist/node_modules`;
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(packages, { recursive: true });
  cpSync(`${root}dist/package`, `${packages}/nestjs-delay-queue`, { recursive: true });
  for (const file of ['package.json', 'dist'])
    cpSync(`${root}packages/redisson/${file}`, `${packages}/nestjs-delay-queue-redisson/${file}`, { recursive: true });
}

/** The tests and the benchmark share one build of the Java program. */
function linkJavaPeer(peer, link) {
  rmSync(link, { force: true });
  symlinkSync(peer, link);
}

install(bench);
run('npm', ['run', 'build:lib'], root);
run('npm', ['run', 'build:redisson'], root);
copyPackages();
// `npm run typecheck` checks it, with everything else.
run('npx', ['tsc', '-p', 'tsconfig.json', '--noCheck'], bench);
cpSync(`${bench}src/adapters/baseline/lua`, `${bench}dist/bench/src/adapters/baseline/lua`, { recursive: true });
const PEER = 'packages/redisson/test/java/peer';
linkJavaPeer(`${root}${PEER}`, `${bench}dist/${PEER}`);
