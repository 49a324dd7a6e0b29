export {
  DelayQueueOutbox,
  type FailedOutboxRow,
  type FailedQuery,
  type OutboxOfferOptions,
  type OutboxOfferRequest,
  type OutboxReceipt,
  type OutboxStatus,
  type TypedOutboxOfferOptions,
  type TypedOutboxOfferRequest,
} from './delay-queue-outbox.js';
export { getOutboxToken, InjectOutbox, type OutboxAsyncOptions, OutboxModule } from './outbox-module.js';
export type { OutboxInstance, OutboxOptions } from './outbox-options.js';
export type { RelayStatus } from './relay/outbox-relay.js';
export type { TableStatus } from './table/outbox-table.js';
export type {
  ChannelListener,
  Dialect,
  OutboxDatabase,
  Sql,
  SqlAtOnce,
  SqlRow,
  SqlValue,
} from './database/outbox-database.js';
export { pg } from './database/pg.js';
export type { PgClient, PgPool, PgPoolClient } from './database/pg-listening.js';
export type { ChannelSource, DialectOptions, ListenOptions, ListenSource } from './database/listen-through.js';
export { drizzle, type DrizzleDatabase, type DrizzleOptions, type DrizzleTransaction } from './database/drizzle.js';
export { knex, type Knex, type KnexTransaction } from './database/knex.js';
export { kysely, type KyselyDatabase, type KyselyTransaction } from './database/kysely.js';
export { mikroOrm, type MikroOrmManager, type MikroOrmRoot } from './database/mikro-orm.js';
export { mysql2, type MysqlConnection, type MysqlPool, type MysqlPoolConnection } from './database/mysql2.js';
export { nodeSqlite, type SqliteDatabase } from './database/node-sqlite.js';
export { pglite, type PgliteDatabase, type PgliteTransaction } from './database/pglite.js';
export { prisma, type PrismaDatabase, type PrismaTransaction } from './database/prisma.js';
export { sequelize, type SequelizeDatabase, type SequelizeTransaction } from './database/sequelize.js';
export { typeOrm, type TypeOrmDataSource, type TypeOrmManager } from './database/typeorm.js';
export { createTableSql, upgradeTableSql } from './table/migration.js';
