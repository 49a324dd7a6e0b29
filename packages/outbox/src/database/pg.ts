import { type ListenOptions, listenThrough } from './listen-through.js';
import { numbered } from './numbered.js';
import type { OutboxDatabase, Sql, SqlRow } from './outbox-database.js';
import { connect, ignore, type PgClient, type PgPool } from './pg-listening.js';

/**
 * PostgreSQL through `pg`. Transactions are clients on which `BEGIN` was called.
 * @param pool - gives the relay two of its clients, one of which listens
 */
export function pg(pool: PgPool, { listen }: ListenOptions = {}): OutboxDatabase<PgClient> {
  return {
    dialect: 'postgresql',
    within: (client) => outsideOf(client) ?? sqlOf(client),
    transaction: (work) => inTransaction(pool, work),
    listen: listenThrough(listen ?? pool),
  };
}

/** Runs SQL on a client of `pg`, or on anything with the same `query`. */
export function sqlOf(client: PgClient): Sql {
  return async (statement, values = []) => (await client.query(numbered(statement), [...values])).rows as SqlRow[];
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
    // A connection on which something failed may be within a transaction. Closing it rolls back.
    client.release(isBroken);
  }
}

function outsideOf(client: PgClient): string | undefined {
  if ('totalCount' in client && 'idleCount' in client) return 'a Pool: it runs each statement on another connection';
  return typeof client.query === 'function' ? undefined : 'an object that is not a pg client';
}
