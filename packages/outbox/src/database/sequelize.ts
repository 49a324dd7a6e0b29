import { DelayQueueError } from 'nestjs-delay-queue';
import type { Dialect, OutboxDatabase, Sql } from './outbox-database.js';
import { type ListenOptions, listenThrough } from './listen-through.js';
import { numbered } from './numbered.js';
import { listenOnClient, type PgPoolClient } from './pg-listening.js';
import { rowsOf } from './rows-of.js';

/** The part of a `Transaction` of Sequelize that is used. */
export interface SequelizeTransaction {
  commit(): Promise<void>;
  /** How it ended. Sequelize does not declare it. */
  readonly finished?: string | undefined;
}

/** The part of a `Sequelize` that is used. */
export interface SequelizeDatabase {
  getDialect(): string;
  transaction<Result>(
    options: { readonly isolationLevel: never; readonly logging: false },
    work: (transaction: SequelizeTransaction) => Promise<Result>,
  ): Promise<Result>;
  query(
    statement: string,
    options: {
      readonly transaction: never;
      readonly type: never;
      readonly bind: (string | number | null)[];
      readonly logging?: false;
    },
  ): Promise<unknown>;
  /** Gives the connections of the pool. */
  readonly connectionManager: {
    getConnection(options: { readonly type: 'write' }): Promise<object>;
    releaseConnection(connection: object): void;
  };
}

const DIALECTS: Readonly<Record<string, Exclude<Dialect, 'sqlite'>>> = {
  postgres: 'postgresql',
  mysql: 'mysql',
  mariadb: 'mysql',
};

/** Sequelize logs each statement to the console unless told otherwise, and a relay polls. */
const SILENT = { logging: false } as const;

/**
 * PostgreSQL, MySQL and MariaDB through Sequelize 6. Transactions are what `sequelize.transaction` returns, or passes to its callback.
 * @throws DelayQueueError `INVALID_OPTION` for another database
 */
export function sequelize(
  instance: SequelizeDatabase,
  { listen }: ListenOptions = {},
): OutboxDatabase<SequelizeTransaction> {
  const name = instance.getDialect();
  const dialect = DIALECTS[name];
  if (dialect === undefined) {
    const known = Object.keys(DIALECTS).join(', ');
    throw new DelayQueueError('INVALID_OPTION', `sequelize(): the dialect '${name}' must be one of ${known}`);
  }
  const sqlOf =
    (transaction: SequelizeTransaction, logging: { readonly logging?: false } = {}): Sql =>
    async (statement, values = []) => {
      // Of type RAW, a query would give its rows and, depending on the driver, something else.
      const type = /^(SELECT|WITH)\b/.test(statement) ? 'SELECT' : 'RAW';
      const options = { transaction: transaction as never, type: type as never, bind: [...values], ...logging };
      return rowsOf(await instance.query(numbered(statement), options));
    };
  return {
    dialect,
    within(transaction) {
      if ('getDialect' in transaction) return 'a Sequelize outside of a transaction';
      if (typeof transaction.commit !== 'function') return 'an object that is not a transaction of Sequelize';
      return transaction.finished ? 'a transaction of Sequelize that has ended' : sqlOf(transaction);
    },
    transaction: (work) =>
      instance.transaction({ isolationLevel: 'READ COMMITTED' as never, ...SILENT }, (transaction) =>
        work(sqlOf(transaction, SILENT)),
      ),
    listen: listenThrough(listen) ?? (name === 'postgres' ? listenOn(instance) : undefined),
  };
}

function listenOn({ connectionManager }: SequelizeDatabase): OutboxDatabase['listen'] {
  return async (channel, listener) => {
    const connection = await connectionManager.getConnection({ type: 'write' });
    return listenOnClient(connection as PgPoolClient, channel, listener, () =>
      Promise.resolve(connectionManager.releaseConnection(connection)),
    );
  };
}
