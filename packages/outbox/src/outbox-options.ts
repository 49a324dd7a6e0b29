import type { InjectionToken } from '@nestjs/common';
import { DelayQueueError, type Duration } from 'nestjs-delay-queue';
import type { Dialect, OutboxDatabase } from './database/outbox-database.js';
import { readDelay } from './offering/arguments.js';
import { shown } from './offering/shown.js';

/** The options of `OutboxModule.forRoot()`. @typeParam Transaction - the transactions of the database's library */
export interface OutboxOptions<Transaction extends object = object> {
  /** The database, through the library that the application uses: `pg(pool)`, `typeOrm(dataSource)`… */
  readonly database: OutboxDatabase<Transaction>;
  /**
   * The table's name, `schema.table` included. 1–48 of the characters `A–Z a–z 0–9 _`, for each part.
   * @defaultValue `'delay_queue_outbox'`, of an instance `'delay_queue_outbox_<instance>'`
   */
  readonly table?: string | undefined;
  /** Relay rows in this process; with `false` it only writes them. @defaultValue `true` */
  readonly relay?: boolean | undefined;
  /**
   * Maximum pause between two looks at the table. Where commits wake the relay, it matters only when a notification was lost. 10 ms – 1 h.
   * @defaultValue `'1s'`
   */
  readonly pollInterval?: Duration | undefined;
  /** How many rows are relayed at once. 1–1000. @defaultValue `200` */
  readonly batchSize?: number | undefined;
  /**
   * How long the rows that a relay has taken wait if it dies. At least twice `offerTimeout` of the delay queue; the order of the operations
   * on one message relies on that. 1 s – 1 h.
   * @defaultValue `'15s'`
   */
  readonly lease?: Duration | undefined;
}

/** The options that distinguish the outboxes of an application. */
export interface OutboxInstance {
  /**
   * The name of this outbox, for `@InjectOutbox(name)`. 1–24 of the characters `A–Z a–z 0–9 _`. Default: none, and the outbox is injected
   * by its class.
   */
  readonly instance?: string | undefined;
  /**
   * The token of the producer that offers its messages. That of a named instance of `DelayQueueModule` is
   * `getDelayQueueProducerToken(name)`. Default: `DelayQueueProducer`.
   */
  readonly producer?: InjectionToken | undefined;
}

/** Checked options, with the defaults filled in. */
export interface ResolvedOutboxOptions {
  readonly database: OutboxDatabase;
  readonly table: string;
  readonly relay: boolean;
  /** ms */
  readonly pollInterval: number;
  readonly batchSize: number;
  /** ms */
  readonly lease: number;
}

export const DEFAULT_TABLE = 'delay_queue_outbox';
const TABLE = /^[A-Za-z_]\w{0,47}(\.[A-Za-z_]\w{0,47})?$/;
/** PostgreSQL refuses notifications on longer channels. */
const MAX_CHANNEL = 63;
const INSTANCE = /^\w{1,24}$/;
const FIELDS = ['database', 'table', 'relay', 'pollInterval', 'batchSize', 'lease'];
const HOUR = 60 * 60 * 1000;
const DIALECTS = ['postgresql', 'mysql', 'sqlite'];

/** Checks the options. @throws DelayQueueError `INVALID_OPTION` */
export function resolveOptions(given: OutboxOptions, instance: string | undefined): ResolvedOutboxOptions {
  if (typeof given !== 'object' || (given as unknown) === null)
    throw refuse(`must be given an options object, not ${shown(given)}`);
  const unknown = Object.keys(given).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined)
    throw refuse(`${unknown}: there is no such option; there are ${FIELDS.join(', ')}, instance and producer`);
  const { database, relay = true, batchSize = 200, pollInterval = '1s', lease = '15s' } = given;
  const table = given.table ?? (instance === undefined ? DEFAULT_TABLE : `${DEFAULT_TABLE}_${instance}`);
  if (!isDatabase(database)) {
    throw refuse(`database: use what pg(pool), typeOrm(dataSource), prisma(client)… return, not ${shown(database)}`);
  }
  assertTable(table, database.dialect);
  if (typeof relay !== 'boolean') throw refuse(`relay: must be true or false, not ${shown(relay)}`);
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > 1000) {
    throw refuse(`batchSize: must be a whole number between 1 and 1000, not ${shown(batchSize)}`);
  }
  return {
    database,
    table,
    relay,
    batchSize,
    pollInterval: readDuration('pollInterval', pollInterval, { min: 10, max: HOUR }),
    lease: readDuration('lease', lease, { min: 1000, max: HOUR }),
  };
}

/** @throws DelayQueueError `INVALID_OPTION` */
export function assertTable(table: unknown, dialect: Dialect): asserts table is string {
  if (typeof table === 'string' && TABLE.test(table)) {
    if (dialect !== 'postgresql' || table.length <= MAX_CHANNEL) return;
    const problem = `must have at most ${MAX_CHANNEL} characters with its schema, as the channel that has its name`;
    throw refuse(`table: ${problem}, not ${table.length}: ${shown(table)}`);
  }
  const rule = 'must be a name, or schema.name, of 1–48 of the characters A–Z a–z 0–9 _ each, beginning with no digit';
  throw refuse(`table: ${rule}, not ${shown(table)}`);
}

/** @throws DelayQueueError `INVALID_OPTION` */
export function assertInstance(instance: unknown): asserts instance is string {
  if (typeof instance === 'string' && INSTANCE.test(instance)) return;
  throw refuse(`instance: must be 1–24 of the characters A–Z a–z 0–9 _, not ${shown(instance)}`);
}

export function refuse(problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `OutboxModule: ${problem}`);
}

function isDatabase(given: unknown): given is OutboxDatabase {
  const database = (given ?? {}) as Partial<OutboxDatabase>;
  return (
    typeof database.within === 'function' &&
    typeof database.transaction === 'function' &&
    DIALECTS.includes(database.dialect ?? '')
  );
}

function readDuration(name: string, given: Duration, { min, max }: { min: number; max: number }): number {
  let milliseconds: number;
  try {
    milliseconds = readDelay(given, name).after;
  } catch (error) {
    throw refuse((error as Error).message);
  }
  if (milliseconds >= min && milliseconds <= max) return milliseconds;
  throw refuse(`${name}: must be between ${min} ms and ${max} ms, not ${shown(given)}`);
}
