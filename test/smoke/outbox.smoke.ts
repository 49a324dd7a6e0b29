import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresqlServer, startPostgresql } from '../support/databases/start-postgresql.js';
import { type TestRedis } from '../support/redis/test-redis.js';
import { startRedis } from '../support/redis/start-redis.js';
import { Application } from './application.js';
import { packPackage, type PackedPackage, PROJECT } from './packed-package.js';

const README = join(PROJECT, 'packages', 'outbox', 'README.md');

let library: PackedPackage;
let outbox: PackedPackage;
beforeAll(async () => {
  [library, outbox] = await Promise.all([packPackage(), packPackage('outbox')]);
});
afterAll(() => Promise.all([library.remove(), outbox.remove(), Application.removeAll()]));

/** The commands of a user, with the tarballs instead of unpublished packages. */
function withTarballs(commands: string): string {
  return commands
    .replace(/ nestjs-delay-queue(?= )/, ` ${library.tarball}`)
    .replace(/ nestjs-delay-queue-outbox(?= )/, ` ${outbox.tarball}`);
}

it('the packed outbox contains the build and the migrations and no other project files', () => {
  const foreign = outbox.files.filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path));
  expect(foreign.sort()).toEqual([
    'LICENSE',
    'README.md',
    'migrations/mysql-upgrade.sql',
    'migrations/mysql.sql',
    'migrations/postgresql-upgrade.sql',
    'migrations/postgresql.sql',
    'migrations/sqlite-upgrade.sql',
    'migrations/sqlite.sql',
    'package.json',
  ]);
});

describe('the code of the outbox README in a new application of Nest 11', () => {
  let app: Application;
  let postgresql: PostgresqlServer;
  let redis: TestRedis;

  beforeAll(async () => {
    [app, postgresql, redis] = await Promise.all([
      Application.create(),
      startPostgresql({ fsync: 'off' }),
      startRedis(),
    ]);
    const text = await readFile(README, 'utf8');
    const [, commands = ''] = /^```sh\n(.*?)^```$/ms.exec(text) ?? [];
    const [, module = ''] = /^<!-- snippet: file app\.module\.ts -->\s*^```ts\n(.*?)^```$/ms.exec(text) ?? [];
    const options = ['--directory', '.', '--skip-git', '--package-manager', 'npm'];
    await app.command('npx', ['--yes', '--prefer-offline', '@nestjs/cli@11', 'new', 'shop', ...options]);
    await app.command('bash', ['-euo', 'pipefail', '-c', withTarballs(commands)], {
      env: { DATABASE_URL: postgresql.url },
    });
    await app.write('src/app.module.ts', module);
    await app.command('npx', ['nest', 'build']);
    await app.add('outbox.cjs', 'outbox.cjs');
  });

  afterAll(() => Promise.all([postgresql.server.stop(), redis.stop()]));

  it('stores an order and offers its message, or does neither if the transaction is rolled back', async () => {
    const output = await app.command(process.execPath, ['outbox.cjs'], {
      env: { DATABASE_URL: postgresql.url, REDIS_URL: redis.url },
      timeout: 60_000,
    });
    expect(JSON.parse(output)).toEqual({
      refusal: 'rolled back',
      delayed: ['unpaid:kept'],
      listening: true,
      statuses: ['cancelled', 'paid'],
    });
  });
});
