import type { ChannelListener, OutboxDatabase, Sql, SqlRow } from './outbox-database.js';
import { numbered } from './numbered.js';

/** The part of a client of `pg` that is used: one of a pool, or one of its own. */
export interface PgClient {
  /** Runs a statement. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A client of a pool. */
export interface PgPoolClient extends PgClient {
  /** Gives it back; with `true`, closes it. */
  release(destroy?: boolean): void;
  /** Listens to an event. */
  on(event: 'notification' | 'error' | 'end', listener: (told: never) => void): unknown;
  /** Ends that. */
  removeListener(event: 'notification' | 'error' | 'end', listener: (told: never) => void): unknown;
}

/** The part of a pool of `pg` that is used. */
export interface PgPool {
  /** Gives a client. */
  connect(callback: (error: Error | undefined, client: PgPoolClient | undefined) => void): void;
}

/**
 * PostgreSQL through `pg`. Transactions are clients on which `BEGIN` was called.
 *
 * @param pool - it gives the relay two of its clients, one of which listens
 */
export function pg(pool: PgPool): OutboxDatabase<PgClient> {
  return {
    dialect: 'postgresql',
    within: (client) => outsideOf(client) ?? sqlOf(client),
    transaction: (work) => inTransaction(pool, work),
    listen: (channel, listener) => listenOnPool(pool, channel, listener),
  };
}

/** Runs SQL on a client of `pg`, or on what has the same `query`. */
export function sqlOf(client: PgClient): Sql {
  return async (statement, values = []) => (await client.query(numbered(statement), [...values])).rows as SqlRow[];
}

/** Listens on a client of a pool, which is closed afterwards: it has state that nobody else expects. */
export async function listenOnPool(
  pool: PgPool,
  channel: string,
  listener: ChannelListener,
): Promise<() => Promise<void>> {
  return listenOnClient(await connect(pool), channel, listener);
}

/**
 * Listens on a client.
 *
 * @param release - gives it back to a library that has its own way to; default: it is closed
 */
export async function listenOnClient(
  client: PgPoolClient,
  channel: string,
  { notified, lost }: ChannelListener,
  release?: () => Promise<void>,
): Promise<() => Promise<void>> {
  const onEnd = () => lost(new Error('The connection has ended'));
  client.on('error', lost);
  client.on('end', onEnd);
  client.on('notification', notified);
  const end = async () => {
    client.removeListener('end', onEnd);
    client.removeListener('notification', notified);
    if (!release) {
      client.release(true);
      return;
    }
    // Whoever gets the client next expects no notifications. If it is lost, there is nothing to say.
    await client.query(`UNLISTEN "${channel}"`).catch(() => undefined);
    client.removeListener('error', lost);
    await release();
  };
  try {
    await client.query(`LISTEN "${channel}"`);
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

async function inTransaction<Result>(pool: PgPool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const client = await connect(pool);
  let isBroken = true;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(sqlOf(client));
    await client.query('COMMIT');
    isBroken = false;
    return result;
  } finally {
    client.removeListener('error', ignore);
    // A connection on which something failed may be in the middle of a transaction, which its end rolls back.
    client.release(isBroken);
  }
}

/** Without a listener, an error of the connection would end the process. A promise of the pool's would leave a gap without one. */
function connect(pool: PgPool): Promise<PgPoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) {
        reject(error ?? new Error('The pool has no client'));
        return;
      }
      client.on('error', ignore);
      resolve(client);
    });
  });
}

function ignore(): void {}

function outsideOf(client: PgClient): string | undefined {
  if ('totalCount' in client && 'idleCount' in client) return 'a Pool: it runs each statement on another connection';
  return typeof client.query === 'function' ? undefined : 'an object that is no client of pg';
}
