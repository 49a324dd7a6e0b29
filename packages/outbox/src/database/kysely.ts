import type { OutboxDatabase, Sql, SqlRow } from './outbox-database.js';
import { type DialectOptions, listenThrough, readDialect } from './listen-through.js';
import { numbered } from './numbered.js';

/** A statement as Kysely has compiled it. */
interface CompiledStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: {
    readonly kind: 'RawNode';
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly never[];
  };
  readonly queryId: { readonly queryId: string };
}

/** The part of a transaction of Kysely that is used. */
export interface KyselyTransaction {
  executeQuery(statement: CompiledStatement): Promise<{ readonly rows: readonly unknown[] }>;
  /** True for a transaction. */
  readonly isTransaction: boolean;
}

/** The part of Kysely that is used. */
export interface KyselyDatabase {
  transaction(): {
    setIsolationLevel(level: 'read committed'): {
      execute<Result>(work: (transaction: KyselyTransaction) => Promise<Result>): Promise<Result>;
    };
  };
}

/** PostgreSQL, MySQL and MariaDB through Kysely. Transactions are what `db.transaction().execute` passes to its callback. */
export function kysely(db: KyselyDatabase, options: DialectOptions): OutboxDatabase<KyselyTransaction> {
  const dialect = readDialect('kysely', options);
  const sqlOf =
    (transaction: KyselyTransaction): Sql =>
    async (statement, values = []) => {
      const sql = dialect === 'postgresql' ? numbered(statement) : statement;
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const;
      const result = await transaction.executeQuery({ sql, parameters: values, query, queryId: { queryId: 'outbox' } });
      return result.rows as readonly SqlRow[];
    };
  return {
    dialect,
    within(transaction) {
      if (typeof transaction.executeQuery !== 'function') return 'an object that is not a Kysely transaction';
      return transaction.isTransaction ? sqlOf(transaction) : 'a Kysely outside of a transaction';
    },
    transaction: (work) =>
      db
        .transaction()
        .setIsolationLevel('read committed')
        .execute((transaction) => work(sqlOf(transaction))),
    listen: listenThrough(options.listen),
  };
}
