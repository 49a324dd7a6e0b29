import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LastWill } from '../../../test/support/redis/last-will.js';
import { onRandomPort, PortInUseError } from '../../../test/support/redis/random-port.js';
import { until } from '../../../test/support/until.js';
import type { Address } from '../adapters/adapter.js';
import { findPostgres, missingPostgres } from './find-postgres.js';

const HOST = '127.0.0.1';
const START_TIMEOUT = 20_000;
const READY = 'database system is ready to accept connections';
/** Who runs the server where root runs the benchmark: PostgreSQL refuses root. */
const USERS = ['postgres', 'nobody'];

/** The superuser, and the database that every server has. Nobody needs a password. */
export const POSTGRES_USER = 'postgres';
export const POSTGRES_DATABASE = 'postgres';

export interface Postgres extends Address {
  stop(): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Starts an empty server for the caller alone, with the settings that PostgreSQL has by default: each commit is flushed to the disk. */
export async function startPostgres(): Promise<Postgres> {
  const programs = findPostgres();
  if (programs === undefined) throw new Error(missingPostgres());
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const lastWill = new LastWill(folder);
  try {
    await createDatabase(programs, folder, user);
    return await onRandomPort(async (port) => {
      const child = await startServer({ programs, folder, user, port, lastWill });
      return { host: HOST, port, stop: () => stop(child, lastWill) };
    });
  } catch (error) {
    await lastWill.execute();
    throw error;
  }
}

async function createDatabase(programs: string, folder: string, user: User | undefined): Promise<void> {
  const args = ['-D', join(folder, 'data'), '-U', POSTGRES_USER, '--auth=trust', '--no-locale', '--encoding=UTF8'];
  // Without a flush: what it writes need not survive a crash.
  const child = spawn(join(programs, 'initdb'), [...args, '--no-sync'], {
    ...user,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`PostgreSQL made no database:\n${words}`);
}

interface ServerSettings {
  readonly programs: string;
  readonly folder: string;
  readonly user: User | undefined;
  readonly port: number;
  readonly lastWill: LastWill;
}

async function startServer({ programs, folder, user, port, lastWill }: ServerSettings): Promise<ChildProcess> {
  const logFile = join(folder, 'server.log');
  const log = openSync(logFile, 'w');
  const args = ['-D', join(folder, 'data'), '-h', HOST, '-k', folder, '-p', String(port)];
  const child = spawn(join(programs, 'postgres'), args, { ...user, stdio: ['ignore', log, log] });
  closeSync(log);
  await once(child, 'spawn');
  lastWill.name(child.pid ?? null);
  await untilReady(child, logFile);
  return child;
}

/** Waits for the server's own word: an answer on its port could come from another server that took it first. */
async function untilReady(child: ChildProcess, logFile: string): Promise<void> {
  const log = () => readFileSync(logFile, 'utf8');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => log().includes(READY) || hasEnded(), { within: START_TIMEOUT }).catch(() => undefined);
  if (log().includes(READY)) return;
  if (log().includes('Address already in use')) throw new PortInUseError(log());
  throw new Error(`PostgreSQL ${hasEnded() ? 'ended' : 'is not ready in time'}:\n${log()}`);
}

/** At once, without a checkpoint: nothing in the folder is needed any more. */
async function stop(child: ChildProcess, lastWill: LastWill): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGQUIT');
    await exit;
  }
  lastWill.name(null);
  await lastWill.execute();
}

function unprivilegedUser(): User {
  for (const name of USERS) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) };
    } catch {
      // There is no such user.
    }
  }
  throw new Error(`PostgreSQL refuses root, and there is no user ${USERS.join(' or ')} to run it as`);
}

function idOf(flag: '-u' | '-g', user: string): number {
  return Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}
