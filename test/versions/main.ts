/**
 * `npm run test:versions` runs the suites that speak to Redis against every supported server; `npm run test:versions -- "Redis 8.6"
 * -- test/contract` only against one, and only some suites. Redis 6.0, which is not supported, must be refused.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { recordProof } from '../../release/proof-record.js';
import { canUnpackServers, type DebianServer, unpackServer } from './debian-server.js';
import { SERVERS, TOO_OLD } from './servers.js';

const SUITES = [
  ...['--testMatch', '<rootDir>/test/{contract,layout,e2e}/*.test.ts', '<rootDir>/test/hostile/*.hostile.ts'],
  '<rootDir>/packages/redisson/test/contract/*.test.ts',
];

const SUITES_OF_TOO_OLD = ['--testMatch', '<rootDir>/test/versions/*.versions.ts'];

const [names, suites] = readArguments(process.argv.slice(2));
if (!canUnpackServers()) throw new Error('The servers come from packages of Debian: run this on Debian or Ubuntu.');
const chosen = [...SERVERS, TOO_OLD].filter(({ name }) => names.length === 0 || names.includes(name));
if (chosen.length === 0)
  throw new Error(`There is no such server; there are ${SERVERS.map(({ name }) => name).join(', ')}`);

const results = chosen.map((server) => ({ server, ...run(server) }));
console.log('\n');
for (const { server, version, tests } of results) console.log(`${server.name.padEnd(12)}${version.padEnd(16)}${tests}`);
const passed = results.every(({ isGreen }) => isGreen);
const figures = Object.fromEntries(results.map(({ server, version, tests }) => [server.name, `${version}, ${tests}`]));
recordProof({ script: 'test:versions', args: process.argv.slice(2), passed, figures });
process.exitCode = passed ? 0 : 1;

function readArguments(args: readonly string[]): [names: string[], suites: string[]] {
  const end = args.indexOf('--');
  return end < 0 ? [[...args], SUITES] : [args.slice(0, end), args.slice(end + 1)];
}

function run(server: DebianServer): { version: string; tests: string; isGreen: boolean } {
  const folder = unpackServer(server);
  const program = join(folder, server.package.replace('-tools', '-server'));
  const version = /v=(\S+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1] ?? 'unknown';
  console.log(`\n=== ${server.name}: ${version}`);
  const { status, stderr } = spawnSync('npm', ['test', '--', ...(server === TOO_OLD ? SUITES_OF_TOO_OLD : suites)], {
    env: { ...process.env, PATH: [folder, process.env.PATH].join(delimiter), REDIS_URL: '' },
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  process.stderr.write(stderr);
  const tests = /^Tests: +(.*)$/m.exec(stderr)?.[1] ?? 'did not run';
  return { version, tests, isGreen: status === 0 };
}
