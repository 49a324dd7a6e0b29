import type { OutboxDatabase, Sql, SqlRow } from './outbox-database.js';
import { type DialectOptions, listenThrough, readDialect } from './listen-through.js';
import { numbered } from './numbered.js';

/** The part of a transaction of Prisma that is used. */
export interface PrismaTransaction {
  $queryRawUnsafe(statement: string, ...values: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(statement: string, ...values: unknown[]): PromiseLike<unknown>;
  /** Absent in a transaction. */
  readonly $connect?: unknown;
}

/** The part of a client of Prisma that is used. */
export interface PrismaDatabase {
  $transaction<Result>(
    work: (transaction: PrismaTransaction) => Promise<Result>,
    options: { readonly isolationLevel: 'ReadCommitted'; readonly timeout: number; readonly maxWait: number },
  ): Promise<Result>;
}

/** How long a batch may take, and how long it may wait for a connection, ms. Offering waits for Redis. */
const LIMITS = { timeout: 60_000, maxWait: 10_000 } as const;

/** PostgreSQL, MySQL and MariaDB through Prisma. Transactions are what `prisma.$transaction` passes to its callback. */
export function prisma(client: PrismaDatabase, options: DialectOptions): OutboxDatabase<PrismaTransaction> {
  const dialect = readDialect('prisma', options);
  const sqlOf =
    (transaction: PrismaTransaction): Sql =>
    async (statement, values = []) => {
      const sql = dialect === 'postgresql' ? numbered(statement) : statement;
      const isQuery = /^(SELECT|WITH)\b/.test(sql);
      if (isQuery) return (await transaction.$queryRawUnsafe(sql, ...values)) as SqlRow[];
      await transaction.$executeRawUnsafe(sql, ...values);
      return [];
    };
  return {
    dialect,
    within(transaction) {
      if (typeof transaction.$executeRawUnsafe !== 'function') return 'an object that is not a Prisma transaction';
      // Read, not looked for with `in`, because `@InjectTransaction()` of nestjs-cls passes on only what is read.
      return transaction.$connect !== undefined ? 'a PrismaClient outside of a transaction' : sqlOf(transaction);
    },
    transaction: (work) =>
      client.$transaction((transaction) => work(sqlOf(transaction)), { isolationLevel: 'ReadCommitted', ...LIMITS }),
    listen: listenThrough(options.listen),
  };
}
