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
export type { ChannelListener, Dialect, OutboxDatabase, Sql, SqlRow, SqlValue } from './database/outbox-database.js';
export { pg, type PgClient, type PgPool, type PgPoolClient } from './database/pg.js';
