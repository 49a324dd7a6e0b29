import type { OutboxDatabase } from './outbox-database.js';
import { listenThrough } from './listen-through.js';
import { sqlOf } from './pg.js';

/** The part of a transaction of PGlite that is used. */
export interface PgliteTransaction {
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  /** True once the transaction has ended. */
  readonly closed: boolean;
}

/** The part of PGlite that is used. */
export interface PgliteDatabase {
  transaction<Result>(work: (transaction: PgliteTransaction) => Promise<Result>): Promise<Result>;
  listen(channel: string, callback: () => void): Promise<unknown>;
}

/** PostgreSQL in this process, through PGlite. Transactions are what `db.transaction` passes to its callback. */
export function pglite(db: PgliteDatabase): OutboxDatabase<PgliteTransaction> {
  return {
    dialect: 'postgresql',
    within(transaction) {
      if (!('closed' in transaction) || 'transaction' in transaction)
        return 'an object that is not a PGlite transaction';
      return transaction.closed ? 'a transaction of PGlite that has ended' : sqlOf(transaction);
    },
    transaction: (work) => db.transaction((transaction) => work(sqlOf(transaction))),
    listen: listenThrough({ listen: (channel, callback) => db.listen(`"${channel}"`, callback) }),
  };
}
