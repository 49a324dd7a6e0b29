import { DelayQueueError } from 'nestjs-delay-queue';
import type { Dialect, OutboxDatabase, Sql } from './outbox-database.js';
import { type ListenOptions, listenThrough } from './listen-through.js';
import { listenOnClient, type PgPoolClient } from './pg-listening.js';
import { rowsOf } from './rows-of.js';

/** The part of a transaction of Knex that is used. */
export interface KnexTransaction {
  raw(statement: string, values: readonly (string | number | null)[]): PromiseLike<unknown>;
  /** True for a transaction. */
  readonly isTransaction?: boolean | undefined;
  /** True once the transaction has ended. */
  isCompleted?(): boolean;
}

/** The part of Knex that is used. */
export interface Knex {
  transaction<Result>(
    work: (transaction: KnexTransaction) => Promise<Result>,
    options: { readonly isolationLevel: 'read committed' },
  ): Promise<Result>;
  /** The part that belongs to the database's driver. */
  readonly client: {
    readonly driverName?: string;
    acquireConnection(): Promise<unknown>;
    releaseConnection(connection: unknown): Promise<void>;
  };
}

const DIALECTS: Readonly<Record<string, Exclude<Dialect, 'sqlite'>>> = {
  pg: 'postgresql',
  pgnative: 'postgresql',
  mysql: 'mysql',
  mysql2: 'mysql',
};

/**
 * PostgreSQL, MySQL and MariaDB through Knex. Transactions are what `knex.transaction` makes.
 * @throws DelayQueueError `INVALID_OPTION` for another database
 */
export function knex(instance: Knex, { listen }: ListenOptions = {}): OutboxDatabase<KnexTransaction> {
  const { driverName = '' } = instance.client;
  const dialect = DIALECTS[driverName];
  if (dialect === undefined) {
    const known = Object.keys(DIALECTS).join(', ');
    throw new DelayQueueError('INVALID_OPTION', `knex(): the client '${driverName}' must be one of ${known}`);
  }
  return {
    dialect,
    within(transaction) {
      if (typeof transaction.raw !== 'function') return 'an object that is not a Knex transaction';
      if (!transaction.isTransaction) return 'a Knex outside of a transaction';
      return transaction.isCompleted?.() ? 'a transaction of Knex that has ended' : sqlOf(transaction);
    },
    transaction: (work) =>
      instance.transaction((transaction) => work(sqlOf(transaction)), { isolationLevel: 'read committed' }),
    listen: listenThrough(listen) ?? (driverName === 'pg' ? listenOn(instance) : undefined),
  };
}

function sqlOf(transaction: KnexTransaction): Sql {
  return async (statement, values = []) => rowsOf(await transaction.raw(statement, values));
}

function listenOn({ client }: Knex): OutboxDatabase['listen'] {
  return async (channel, listener) => {
    const connection = await client.acquireConnection();
    return listenOnClient(connection as PgPoolClient, channel, listener, () => client.releaseConnection(connection));
  };
}
