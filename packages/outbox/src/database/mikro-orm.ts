import type { OutboxDatabase, Sql } from './outbox-database.js';
import { type DialectOptions, listenThrough, readDialect } from './listen-through.js';
import { rowsOf } from './rows-of.js';

/** The part of an `EntityManager` of MikroORM that is used. */
export interface MikroOrmManager {
  /** True within a transaction. */
  isInTransaction(): boolean;
  /** The driver's transaction. */
  getTransactionContext(): unknown;
  /** Returns the connection, which runs statements. */
  getConnection(): object;
}

/** The `EntityManager` that the application's others are forked from. */
export interface MikroOrmRoot {
  fork(): {
    transactional<Result>(
      work: (manager: MikroOrmManager) => Promise<Result>,
      options: { readonly isolationLevel: never },
    ): Promise<Result>;
  };
}

/**
 * PostgreSQL, MySQL and MariaDB through MikroORM. Transactions are what `em.transactional` passes to its callback, and any `EntityManager`
 * after `em.begin()`.
 * @param em - `orm.em`; the relay works on forks of it
 */
export function mikroOrm(em: MikroOrmRoot, options: DialectOptions): OutboxDatabase<MikroOrmManager> {
  const dialect = readDialect('mikroOrm', options);
  return {
    dialect,
    within(manager) {
      if (typeof manager.isInTransaction !== 'function') return 'an object that is not an EntityManager';
      return manager.isInTransaction() ? sqlOf(manager) : 'an EntityManager outside of a transaction';
    },
    transaction: (work) =>
      em.fork().transactional((manager) => work(sqlOf(manager)), { isolationLevel: 'read committed' as never }),
    listen: listenThrough(options.listen),
  };
}

interface SqlConnection {
  execute(statement: string, values: unknown[], method: 'all', context: unknown): Promise<unknown>;
}

function sqlOf(manager: MikroOrmManager): Sql {
  return async (statement, values = []) => {
    // Only the connection of an SQL driver has it.
    const connection = manager.getConnection() as SqlConnection;
    return rowsOf(await connection.execute(statement, [...values], 'all', manager.getTransactionContext()));
  };
}
