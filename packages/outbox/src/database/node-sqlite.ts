import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxDatabase, Sql, SqlRow } from './outbox-database.js';

/** The part of a `DatabaseSync` of `node:sqlite` that is used. */
export interface SqliteDatabase {
  /** Prepares a statement. */
  prepare(statement: string): { all(...values: (string | number | null)[]): unknown[] };
  /** Runs statements. */
  exec(statements: string): void;
  /** Whether a transaction is under way; from Node.js 22.16 and 24 on. */
  readonly isTransaction?: boolean;
}

/** How long the relay waits for a writer in another connection, ms. */
const PATIENCE = 10_000;
const PAUSE = 3;

/**
 * SQLite through `node:sqlite`, of Node.js 22 or newer. Transactions are other connections to the same file, on which `BEGIN` was
 * called.
 *
 * @param own - a connection for the relay alone: `new DatabaseSync('app.db')`
 */
export function nodeSqlite(own: SqliteDatabase): OutboxDatabase<SqliteDatabase> {
  const sql = sqlOf(own);
  let last: Promise<unknown> = Promise.resolve();
  // Waiting in SQLite would block this process, whose own transaction may be what it waits for.
  own.exec('PRAGMA busy_timeout = 0');
  return {
    dialect: 'sqlite',
    within(database) {
      if (typeof database.prepare !== 'function') return 'an object that is no DatabaseSync';
      if (database === own) return 'the DatabaseSync of the relay: open another one for the application';
      return database.isTransaction === false ? 'a DatabaseSync outside of a transaction' : sqlOf(database);
    },
    transaction(work) {
      // One after the other: it is one connection.
      const next = last.then(() => inTransaction(own, () => work(sql)));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

function sqlOf(database: SqliteDatabase): Sql {
  return (statement, values = []) => {
    try {
      return Promise.resolve(database.prepare(statement).all(...values) as SqlRow[]);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };
}

async function inTransaction<Result>(database: SqliteDatabase, work: () => Promise<Result>): Promise<Result> {
  await begin(database);
  try {
    const result = await work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

async function begin(database: SqliteDatabase): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      database.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!/locked|busy/i.test(String(error)) || performance.now() > deadline) throw error;
    }
    await sleep(PAUSE);
  }
}
