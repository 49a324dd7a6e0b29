/** Measures how long after its commit a message is delayed in Redis, and what a row costs the database: `npm run bench:outbox`. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { createTableSql } from '../../../packages/outbox/src/index.js';
import { startPostgresql } from '../../support/databases/start-postgresql.js';
import { startRedis } from '../../support/redis/start-redis.js';
import { argumentsFor, ENVIRONMENT, setUpPrograms } from '../../support/run-program.js';
import { until } from '../../support/until.js';
import { openLibrary } from '../library.js';
import { type LatencySettings, QUEUE, type Relaying } from './settings.js';

const CASES: readonly (readonly [Relaying, rate: number, transactions: number])[] = [
  ['woken', 100, 2000],
  ['woken', 2000, 20_000],
  ['polled', 100, 2000],
  ['every second', 100, 2000],
  ['every second', 2000, 20_000],
  ['none', 2000, 20_000],
];

const removePrograms = setUpPrograms();
const redis = await startRedis();
const postgresql = await startPostgresql();
const library = await openLibrary('pg', postgresql.url);
const client = new Redis(redis.url);
try {
  await library.execute(createTableSql('postgresql'));
  await library.execute('CREATE TABLE business (n bigint)');
  console.log('relay         wanted/s  reached/s   p50 ms   p99 ms   max ms  WAL bytes/tx  database CPU µs/tx');
  for (const [relaying, rate, transactions] of CASES) await measure(relaying, rate, transactions);
} finally {
  client.disconnect();
  await library.close();
  await Promise.all([postgresql.server.stop(), redis.stop()]);
  removePrograms();
}
process.exit();

async function measure(relaying: Relaying, rate: number, transactions: number): Promise<void> {
  const result = join(postgresql.server.folder, 'result.json');
  const settings: LatencySettings = {
    databaseUrl: postgresql.url,
    redisUrl: redis.url,
    relaying,
    rate,
    transactions,
    result,
  };
  await client.flushall();
  const relay = spawn(
    process.execPath,
    [...argumentsFor(new URL('./relay.program.ts', import.meta.url)), JSON.stringify(settings)],
    {
      env: ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await once(relay.stdout, 'data');
  const before = { wal: await walPosition(), cpu: cpuOfDatabase() };
  const args = [...argumentsFor(new URL('./writer.program.ts', import.meta.url)), JSON.stringify(settings)];
  await promisify(execFile)(process.execPath, args, { env: ENVIRONMENT });
  const { committed, seconds } = JSON.parse(readFileSync(result, 'utf8')) as {
    committed: [string, number][];
    seconds: number;
  };
  await until(async () => (await countRows()) === 0, { within: 60_000, every: 100 });
  const used = { wal: (await walPosition()) - before.wal, cpu: cpuOfDatabase() - before.cpu };
  const waits = relaying === 'none' ? [] : await waitsOf(committed);
  const exited = once(relay, 'exit');
  relay.kill('SIGKILL');
  await exited;
  const at = (share: number) => (waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? NaN).toFixed(1);
  const cells = [String(rate), (transactions / seconds).toFixed(0), at(0.5), at(0.99), at(1)].map((cell) =>
    cell.padStart(8),
  );
  const costs = [
    (used.wal / transactions).toFixed(0).padStart(12),
    ((used.cpu * 1e6) / transactions).toFixed(0).padStart(12),
  ];
  console.log(`${relaying.padEnd(12)}${cells.join(' ')}  ${costs.join('  ')}`);
}

async function countRows(): Promise<number> {
  const [row] = await library.database.transaction((sql) =>
    sql('SELECT COUNT(*) AS n FROM delay_queue_outbox WHERE seq > 0'),
  );
  return Number(row!.n);
}

async function walPosition(): Promise<number> {
  const [row] = await library.database.transaction((sql) => sql("SELECT pg_current_wal_lsn() - '0/0' AS position"));
  return Number(row!.position);
}

/** Seconds that the processes of the server have used, those that have ended included. */
function cpuOfDatabase(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  let ticks = 0;
  for (const pid of pids) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
      const isServer = command.includes(postgresql.server.folder);
      const isChild = fields[1] === String(postgresql.server.pid);
      if (isServer) ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
      else if (isChild) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks / 100;
}

/** For each message, ms from its commit to its offer; of the latter only the millisecond is known, so its end counts. */
async function waitsOf(committed: readonly [string, number][]): Promise<number[]> {
  const times = new Map(committed);
  const imports = [DelayQueueModule.forRoot({ connection: redis.url, consume: false })];
  const app = await NestFactory.createApplicationContext({ module: class {}, imports }, { logger: false });
  const producer = app.get(DelayQueueProducer);
  const waits: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await producer.list(QUEUE, 'delayed', { cursor, limit: 1000 });
    for (const { id, offeredAt } of page.messages) waits.push(Math.max(0, offeredAt.getTime() + 1 - times.get(id)!));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  await app.close();
  if (waits.length !== committed.length) throw new Error(`${committed.length} committed, ${waits.length} in Redis`);
  return waits.sort((a, b) => a - b);
}
