import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { createTableSql } from '../../../packages/outbox/src/index.js';
import { startMariadb } from '../../support/databases/start-mariadb.js';
import { startPostgresql } from '../../support/databases/start-postgresql.js';
import { startRedis } from '../../support/redis/start-redis.js';
import { argumentsFor, ENVIRONMENT } from '../../support/run-program.js';
import { until } from '../../support/until.js';
import { type Library, openLibrary } from '../library.js';
import {
  DUE,
  KEPT,
  PATIENCE,
  type ProcessSettings,
  type SoakPayload,
  type SoakSettings,
  type Step,
} from './settings.js';
import { judge, type Seen, type Verdict } from './verdict.js';

const RELAYS = 2;

/** The result of a run and its events. */
export interface SoakResult extends Verdict {
  readonly kills: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** Writes through the outbox while its relays, the database and Redis are killed, and judges what comes of it. */
export async function runSoak(settings: SoakSettings, tell: (line: string) => void): Promise<SoakResult> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'outbox-soak-'));
  const redis = await startRedis({
    args: ['--appendonly', 'yes', '--appendfsync', 'always'],
    dir: join(folder, 'redis'),
  });
  const database = settings.library === 'pg' ? await startPostgresql() : await startMariadb();
  const own: ProcessSettings = { ...settings, databaseUrl: database.url, redisUrl: redis.url, journal: '' };
  const relays: Relay[] = [];
  const library = await openLibrary(settings.library, database.url);
  try {
    await library.execute(createTableSql(library.database.dialect));
    await library.execute('CREATE TABLE business (n bigint PRIMARY KEY)');
    for (let i = 0; i < RELAYS; i++) {
      const relay = new Relay({ ...own, journal: join(folder, `handled-${i}`) });
      relays.push(relay);
      await relay.start();
    }
    const writer = new Writer({ ...own, journal: join(folder, 'steps') }, tell);
    const victims: [string, () => Promise<void>][] = [
      ['relay', () => relays[Math.floor(Math.random() * RELAYS)]!.killAndStart()],
      ['database', async () => (await database.server.kill9(), database.server.restart())],
      ['redis', async () => (await redis.kill9(), redis.restart())],
    ];
    const kills: Record<string, number> = { relay: 0, database: 0, redis: 0 };
    for (let i = 0; i < settings.kills; i++) {
      // Spread over the run by its progress; near the end, what is left is killed while the relays catch up.
      await until(() => writer.started >= (settings.transactions * (i + 0.5)) / settings.kills || writer.hasEnded, {
        within: PATIENCE,
        every: 1,
      });
      await sleep(Math.random() * 30);
      const [name, kill] = victims[i % victims.length]!;
      await kill();
      kills[name]!++;
    }
    await writer.end();
    await relayedAndHandled(library, redis.url);
    const seconds = Math.round((performance.now() - started) / 1000);
    return { ...judge(await evidence(folder, library, redis.url)), kills, seconds };
  } finally {
    await Promise.all(relays.map((relay) => relay.kill()));
    await library.close().catch(() => undefined);
    await Promise.all([database.server.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

class Relay {
  #child: ChildProcess | undefined;

  constructor(private readonly settings: ProcessSettings) {}

  async start(): Promise<void> {
    const child = startProgram('./relay.program.ts', this.settings);
    this.#child = child;
    await Promise.race([once(createInterface(child.stdout!), 'line'), once(child, 'exit')]);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async killAndStart(): Promise<void> {
    await this.kill();
    // The next victim need not wait until it is up again.
    void this.start();
  }
}

class Writer {
  started = 0;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(settings: ProcessSettings, tell: (line: string) => void) {
    this.#child = startProgram('./writer.program.ts', settings);
    this.#exited = once(this.#child, 'exit');
    createInterface(this.#child.stdout!).on('line', (line) => {
      this.started = (JSON.parse(line) as { started: number }).started;
      if (this.started % 5000 === 0) tell(`${this.started} transactions`);
    });
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null;
  }

  async end(): Promise<void> {
    await this.#exited;
    if (this.#child.exitCode !== 0) throw new Error('The writers have failed');
  }
}

function startProgram(file: string, settings: ProcessSettings): ChildProcess {
  const args = [...argumentsFor(new URL(file, import.meta.url)), JSON.stringify(settings)];
  return spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
}

class LookModule {}

async function withProducer<Result>(
  url: string,
  work: (producer: DelayQueueProducer) => Promise<Result>,
): Promise<Result> {
  const imports = [DelayQueueModule.forRoot({ connection: url, consume: false })];
  const app = await NestFactory.createApplicationContext({ module: LookModule, imports }, { logger: false });
  try {
    return await work(app.get(DelayQueueProducer));
  } finally {
    await app.close();
  }
}

async function relayedAndHandled(library: Library, redisUrl: string): Promise<void> {
  await withProducer(redisUrl, (producer) =>
    until(
      async () => {
        const [rows] = (await count(library, 'delay_queue_outbox')) as [number];
        const { delayed, ready, active } = await producer.counts(DUE);
        return rows + delayed + ready + active === 0;
      },
      { within: PATIENCE, every: 200 },
    ),
  );
}

async function count(library: Library, table: string): Promise<number[]> {
  const rows = await library.database.transaction((sql) => sql(`SELECT COUNT(*) AS n FROM ${table} WHERE seq <> -2`));
  return rows.map(({ n }) => Number(n));
}

async function evidence(folder: string, library: Library, redisUrl: string) {
  const lines = (file: string) =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
  const steps = lines(join(folder, 'steps')).map((line) => JSON.parse(line) as Step);
  const rows = await library.database.transaction((sql) => sql('SELECT n FROM business'));
  const handled = Array.from({ length: RELAYS }, (_, i) => lines(join(folder, `handled-${i}`))).flat();
  return {
    steps,
    committed: new Set(rows.map(({ n }) => Number(n))),
    kept: await withProducer(redisUrl, listKept),
    handled: handled.map((line) => JSON.parse(line) as Seen),
  };
}

async function listKept(producer: DelayQueueProducer): Promise<Seen[]> {
  const kept: Seen[] = [];
  let cursor: string | undefined;
  do {
    const page = await producer.list<SoakPayload>(KEPT, 'delayed', { cursor, limit: 1000 });
    kept.push(...page.messages.map(({ id, payload, dueAt }) => ({ id, n: payload.n, dueAt: dueAt.getTime() })));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return kept;
}
