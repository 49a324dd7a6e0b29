import type { OutboxDatabase, Sql } from './outbox-database.js';
import { rowsOf } from './rows-of.js';

/** The part of a connection of `mysql2/promise` that is used. */
export interface MysqlConnection {
  /** Runs a statement, prepared. */
  execute(statement: string, values?: (string | number | null)[]): Promise<unknown>;
}

/** A connection of a pool. */
export interface MysqlPoolConnection extends MysqlConnection {
  beginTransaction(): Promise<void>;
  commit(): Promise<void>;
  /** Runs a statement as it is. */
  query(statement: string): Promise<unknown>;
  release(): void;
  destroy(): void;
}

/** The part of a pool of `mysql2/promise` that is used. */
export interface MysqlPool {
  getConnection(): Promise<MysqlPoolConnection>;
}

/**
 * MySQL and MariaDB through `mysql2/promise`. Transactions are connections on which `beginTransaction` was called.
 * @param pool - gives the relay one of its connections
 */
export function mysql2(pool: MysqlPool): OutboxDatabase<MysqlConnection> {
  return {
    dialect: 'mysql',
    within(connection) {
      if ('getConnection' in connection) return 'a Pool: it runs each statement on another connection';
      return typeof connection.execute === 'function' ? sqlOf(connection) : 'an object that is not a mysql2 connection';
    },
    transaction: (work) => inTransaction(pool, work),
  };
}

function sqlOf(connection: MysqlConnection): Sql {
  return async (statement, values = []) => rowsOf(await connection.execute(statement, [...values]));
}

async function inTransaction<Result>(pool: MysqlPool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const connection = await pool.getConnection();
  let isBroken = true;
  try {
    await connection.query('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
    await connection.beginTransaction();
    const result = await work(sqlOf(connection));
    await connection.commit();
    isBroken = false;
    return result;
  } finally {
    // A connection on which something failed may be within a transaction. Closing it rolls back.
    if (isBroken) connection.destroy();
    else connection.release();
  }
}
