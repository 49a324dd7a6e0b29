import type { Dialect } from '../database/outbox-database.js';

/** The differences of the dialects. */
export interface DialectRules {
  readonly quote: string;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly now: string;
  /** Makes a query lock its rows, and pass over those that others have locked. */
  readonly lock: string;
  /**
   * Makes the rest of the transaction find rows in the order of their numbers. PostgreSQL assumes that they are few and would read and sort
   * all, and that the work is much and would compile the query, which takes ten times as long as the query.
   */
  readonly walkInOrder?: string;
  /** The end of an INSERT that keeps a row whose `seq` exists. */
  readonly keepPresent: string;
  /** Finds an index of the table that begins with `message_id`. */
  readonly findMessageIndex: (table: string) => string;
}

export const DIALECTS: Readonly<Record<Dialect, DialectRules>> = {
  postgresql: {
    quote: '"',
    now: 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint',
    lock: ' FOR UPDATE SKIP LOCKED',
    walkInOrder: `SELECT set_config('jit', 'off', true), set_config('enable_sort', 'off', true)`,
    keepPresent: ' ON CONFLICT DO NOTHING',
    findMessageIndex: (table) =>
      'SELECT 1 AS found FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] ' +
      `WHERE i.indrelid = '${quoted('postgresql', table)}'::regclass AND i.indisvalid AND a.attname = 'message_id'`,
  },
  mysql: {
    quote: '`',
    // NOW() is in the time zone of the session, where an hour occurs twice each autumn.
    now: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
    lock: ' FOR UPDATE SKIP LOCKED',
    keepPresent: ' ON DUPLICATE KEY UPDATE seq = seq',
    findMessageIndex: (table) => {
      const [name, schema] = table.split('.').reverse();
      return (
        `SELECT 1 AS found FROM information_schema.statistics WHERE table_name = '${name}' ` +
        `AND table_schema = ${schema === undefined ? 'DATABASE()' : `'${schema}'`} ` +
        `AND seq_in_index = 1 AND column_name = 'message_id'`
      );
    },
  },
  sqlite: {
    quote: '"',
    now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    lock: '',
    keepPresent: ' ON CONFLICT DO NOTHING',
    findMessageIndex: (table) => {
      const [name, schema] = table.split('.').reverse();
      const of = (pragma: string, argument: string) =>
        `pragma_${pragma}(${argument}${schema === undefined ? '' : `, '${schema}'`})`;
      return (
        `SELECT 1 AS found FROM ${of('index_list', `'${name}'`)} AS i, ${of('index_info', 'i.name')} AS c ` +
        `WHERE c.seqno = 0 AND c.name = 'message_id'`
      );
    },
  },
};

/** Quotes the name of a table, with or without its schema, or of a column. */
export function quoted(dialect: Dialect, name: string): string {
  const { quote } = DIALECTS[dialect];
  return name
    .split('.')
    .map((part) => `${quote}${part}${quote}`)
    .join('.');
}
