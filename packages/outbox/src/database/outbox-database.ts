/** The database systems whose SQL the outbox speaks; MariaDB is `'mysql'`. */
export type Dialect = 'postgresql' | 'mysql' | 'sqlite';

/** A value in a statement, or a field of a row. */
export type SqlValue = string | number | null;

/** A row of a result, by the names of its columns. Big integers may come as text or as `bigint`. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs one statement, in one transaction.
 * @param statement - with a `?` for each value, in every dialect
 * @returns the rows of a query; for another statement, an empty list will do
 */
export type Sql = (statement: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/** Like {@link Sql}, with a driver that answers synchronously. */
export type SqlAtOnce = (statement: string, values?: readonly SqlValue[]) => readonly SqlRow[];

/**
 * The access of the outbox to a database. The functions `pg`, `typeOrm`, `prisma`… make one from the library that the application uses; for
 * another library, write one.
 * @typeParam Transaction - the application's transactions, the first argument of `DelayQueueOutbox.offer`
 */
export interface OutboxDatabase<Transaction extends object = object> {
  /** The SQL that it uses. */
  readonly dialect: Dialect;
  /**
   * Gives access to a transaction of the application.
   * @returns a function that runs SQL in it; or what is wrong with it, such as "an EntityManager outside of a transaction"
   */
  within(transaction: Transaction): Sql | string;
  /** Runs work in a new transaction, at READ COMMITTED, and commits it; rolls back if the work fails. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /**
   * Replaces {@link transaction} with a driver that answers synchronously. Between begin and end nothing else of this process runs: another
   * connection of it that waited for the end would wait forever.
   */
  transactionAtOnce?<Result>(work: (sql: SqlAtOnce) => Result): Promise<Result>;
  /**
   * Listens to a channel of PostgreSQL. Absent: the relay polls the table.
   * @param channel - not quoted
   * @returns a function that ends it; called once, even after `lost`
   */
  readonly listen?: ((channel: string, listener: ChannelListener) => Promise<() => Promise<void>>) | undefined;
}

export interface ChannelListener {
  /** Called after a commit that has written something. */
  readonly notified: () => void;
  /** Called when the connection is lost. */
  readonly lost: (error: unknown) => void;
}
