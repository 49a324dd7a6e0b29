import type { OutboxDatabase, Sql } from './outbox-database.js';
import { type DialectOptions, type ListenSource, listenThrough, readDialect } from './listen-through.js';
import { rowsOf } from './rows-of.js';

/** The part of a transaction of Drizzle that is used. */
export interface DrizzleTransaction {
  /** Runs a statement that `sql` has made. */
  execute(statement: never): PromiseLike<unknown>;
  /** Distinguishes a transaction. */
  rollback(): never;
}

/** The part of a database of Drizzle that is used. */
export interface DrizzleDatabase {
  transaction<Result>(
    work: (transaction: DrizzleTransaction) => Promise<Result>,
    options?: { readonly isolationLevel: 'read committed' },
  ): Promise<Result>;
}

/** The options of {@link drizzle}. */
export interface DrizzleOptions extends DialectOptions {
  /** The template tag of `drizzle-orm`. */
  readonly sql: (strings: TemplateStringsArray, ...values: unknown[]) => unknown;
}

/**
 * PostgreSQL, PGlite, MySQL and MariaDB through Drizzle. Transactions are what `db.transaction` passes to its callback.
 * @param db - made with a driver; on PostgreSQL, the relay listens through its `$client`, unless `listen` is given
 */
export function drizzle(db: DrizzleDatabase, options: DrizzleOptions): OutboxDatabase<DrizzleTransaction> {
  const dialect = readDialect('drizzle', options);
  const { sql, listen } = options;
  const { $client: client } = db as { readonly $client?: object };
  const sqlOf =
    (transaction: DrizzleTransaction): Sql =>
    async (statement, values = []) => {
      const parts = statement.split('?');
      const strings = Object.assign(parts, { raw: parts }) as unknown as TemplateStringsArray;
      return rowsOf(await transaction.execute(sql(strings, ...values) as never));
    };
  return {
    dialect,
    within(transaction) {
      if (typeof transaction.execute !== 'function') return 'an object that is not a Drizzle transaction';
      return typeof transaction.rollback === 'function'
        ? sqlOf(transaction)
        : 'a database of Drizzle outside of a transaction';
    },
    transaction: (work) =>
      db.transaction((transaction) => work(sqlOf(transaction)), { isolationLevel: 'read committed' }),
    listen: dialect === 'postgresql' ? listenThrough(listen ?? sourceOf(client)) : undefined,
  };
}

/** A pool of `pg`, PGlite, or the function of `postgres`. */
function sourceOf(client: object | undefined): ListenSource | undefined {
  return client && ('listen' in client || 'totalCount' in client) ? (client as ListenSource) : undefined;
}
