import { DelayQueueError } from 'nestjs-delay-queue';
import type { Dialect, OutboxDatabase, Sql } from './outbox-database.js';
import { numbered } from './numbered.js';
import { type ListenOptions, listenThrough } from './listen-through.js';
import { listenOnClient, type PgPoolClient } from './pg-listening.js';
import { rowsOf } from './rows-of.js';

/** The part of an `EntityManager` of TypeORM that is used. */
export interface TypeOrmManager {
  query(statement: string, values?: unknown[]): Promise<unknown>;
  /** Present in a manager that keeps to one connection. */
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

/** The part of a `DataSource` of TypeORM that is used. */
export interface TypeOrmDataSource {
  /** `type` names the database. */
  readonly options: { readonly type: string };
  transaction<Result>(isolation: 'READ COMMITTED', work: (manager: TypeOrmManager) => Promise<Result>): Promise<Result>;
  /** Keeps to one connection. */
  createQueryRunner(): { connect(): Promise<unknown>; release(): Promise<void> };
}

const DIALECTS: Readonly<Record<string, Exclude<Dialect, 'sqlite'>>> = {
  postgres: 'postgresql',
  'aurora-postgres': 'postgresql',
  mysql: 'mysql',
  mariadb: 'mysql',
  'aurora-mysql': 'mysql',
};

/**
 * PostgreSQL, MySQL and MariaDB through TypeORM. Transactions are what `dataSource.transaction` passes to its callback, and the `manager`
 * of a `QueryRunner`.
 * @throws DelayQueueError `INVALID_OPTION` for another database
 */
export function typeOrm(dataSource: TypeOrmDataSource, { listen }: ListenOptions = {}): OutboxDatabase<TypeOrmManager> {
  const { type } = dataSource.options;
  const dialect = DIALECTS[type];
  if (dialect === undefined) {
    const known = Object.keys(DIALECTS).join(', ');
    throw new DelayQueueError(
      'INVALID_OPTION',
      `typeOrm(): the type '${type}' of the DataSource must be one of ${known}`,
    );
  }
  return {
    dialect,
    within(manager) {
      if (typeof manager.query !== 'function') return 'an object that is not an EntityManager';
      if (!manager.queryRunner?.isTransactionActive) return 'an EntityManager outside of a transaction';
      return sqlOf(manager, dialect);
    },
    transaction: (work) => dataSource.transaction('READ COMMITTED', (manager) => work(sqlOf(manager, dialect))),
    listen: listenThrough(listen) ?? (type === 'postgres' ? listenOn(dataSource) : undefined),
  };
}

function sqlOf(manager: TypeOrmManager, dialect: Dialect): Sql {
  return async (statement, values = []) =>
    rowsOf(await manager.query(dialect === 'postgresql' ? numbered(statement) : statement, [...values]));
}

function listenOn(dataSource: TypeOrmDataSource): OutboxDatabase['listen'] {
  return async (channel, listener) => {
    const runner = dataSource.createQueryRunner();
    const client = (await runner.connect()) as PgPoolClient;
    return listenOnClient(client, channel, listener, () => runner.release());
  };
}
