import type { OutboxDatabase, Sql, SqlRow, SqlValue } from '../database/outbox-database.js';

export type Statement = readonly [statement: string, values?: readonly SqlValue[]];

/**
 * Work on the database, statement by statement: each is yielded, and its rows come back. So drivers that answer asynchronously and
 * synchronously share the work.
 */
export type Steps<Result> = Generator<Statement, Result, readonly SqlRow[]>;

/** Does the work in an open transaction. */
export async function run<Result>(steps: Steps<Result>, sql: Sql): Promise<Result> {
  let next = steps.next();
  while (!next.done) next = steps.next(await sql(...next.value));
  return next.value;
}

/** Does the work in a transaction of its own. */
export async function inTransaction<Result>(database: OutboxDatabase, work: () => Steps<Result>): Promise<Result> {
  if (!database.transactionAtOnce) return database.transaction((sql) => run(work(), sql));
  return database.transactionAtOnce((sql) => {
    const steps = work();
    let next = steps.next();
    while (!next.done) next = steps.next(sql(...next.value));
    return next.value;
  });
}
