/** The database systems whose SQL the outbox speaks; MariaDB is `'mysql'`. */
export type Dialect = 'postgresql' | 'mysql' | 'sqlite';

/** A value that goes into a statement, or a field of a row that comes back. */
export type SqlValue = string | number | null;

/** A row of a result, by the names of its columns. Big integers may come as text or as `bigint`. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs one statement, in one transaction.
 *
 * @param statement - with a `?` for each value, in every dialect
 * @returns the rows of a query; whatever else the statement was, an empty list will do
 */
export type Sql = (statement: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/** The same, with a driver that answers at once. */
export type SqlAtOnce = (statement: string, values?: readonly SqlValue[]) => readonly SqlRow[];

/**
 * What the outbox needs of a database. The functions `pg`, `typeOrm`, `prisma`… make one from the library that the application uses;
 * for another library, write one.
 *
 * @typeParam Transaction - what the application calls a transaction, the first argument of `DelayQueueOutbox.offer`
 */
export interface OutboxDatabase<Transaction extends object = object> {
  /** Which SQL it speaks. */
  readonly dialect: Dialect;
  /**
   * Gives access to a transaction of the application.
   *
   * @returns how to run SQL in it; or what is wrong with it, such as "an EntityManager outside of a transaction"
   */
  within(transaction: Transaction): Sql | string;
  /** Runs work in a new transaction, at READ COMMITTED, and commits it; rolls back if the work fails. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /**
   * Instead of {@link transaction}, with a driver that answers at once. Between its begin and its end nothing else of this process runs:
   * another connection of it, which waited for the end, would wait forever.
   */
  transactionAtOnce?<Result>(work: (sql: SqlAtOnce) => Result): Promise<Result>;
  /**
   * Listens to a channel of PostgreSQL. Without it, the relay looks at the table from time to time.
   *
   * @param channel - not quoted
   * @returns what ends it; called once, also after `lost`
   */
  readonly listen?: ((channel: string, listener: ChannelListener) => Promise<() => Promise<void>>) | undefined;
}

/** What happens on a channel. */
export interface ChannelListener {
  /** Somebody has committed something. */
  readonly notified: () => void;
  /** The connection is gone. */
  readonly lost: (error: unknown) => void;
}
