import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxDatabase, SqlAtOnce, SqlRow } from './outbox-database.js';

/** The part of a `DatabaseSync` of `node:sqlite` that is used. */
export interface SqliteDatabase {
  prepare(statement: string): { all(...values: (string | number | null)[]): unknown[] };
  exec(statements: string): void;
  /** True within a transaction; from Node.js 22.16 and 24 on. */
  readonly isTransaction?: boolean;
}

/** How long the relay waits for a writer in another connection, ms. */
const PATIENCE = 10_000;
const PAUSE = 3;

/**
 * SQLite through `node:sqlite`, of Node.js 22 or newer. Transactions are other connections to the same file, on which `BEGIN` was called.
 * @param own - a connection for the relay alone: `new DatabaseSync('app.db')`
 */
export function nodeSqlite(own: SqliteDatabase): OutboxDatabase<SqliteDatabase> {
  // Waiting in SQLite would block this process, whose own transaction it may wait for.
  own.exec('PRAGMA busy_timeout = 0');
  return {
    dialect: 'sqlite',
    within(database) {
      if (typeof database.prepare !== 'function') return 'an object that is not a DatabaseSync';
      if (database === own) return 'the DatabaseSync of the relay: open another one for the application';
      if (database.isTransaction === false) return 'a DatabaseSync outside of a transaction';
      const sql = sqlOf(database);
      return (statement, values) => new Promise((resolve) => resolve(sql(statement, values)));
    },
    transaction() {
      return Promise.reject(new Error('Transactions of node:sqlite are carried out at once'));
    },
    async transactionAtOnce(work) {
      const deadline = performance.now() + PATIENCE;
      while (!hasBegun(own, performance.now() > deadline)) await sleep(PAUSE);
      // Nothing is awaited from here on.
      try {
        const result = work(sqlOf(own));
        own.exec('COMMIT');
        return result;
      } catch (error) {
        own.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

function sqlOf(database: SqliteDatabase): SqlAtOnce {
  return (statement, values = []) => database.prepare(statement).all(...values) as SqlRow[];
}

/** Begins a transaction, unless another connection has one that writes. */
function hasBegun(database: SqliteDatabase, isLast: boolean): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (isLast || !/locked|busy/i.test(String(error))) throw error;
    return false;
  }
}
