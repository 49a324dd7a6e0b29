import type { Dialect } from '../database/outbox-database.js';

/** Where the dialects differ. */
export interface DialectRules {
  readonly quote: string;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly now: string;
  /** What makes a query lock its rows, and pass over those that others have locked. */
  readonly lock: string;
}

export const DIALECTS: Readonly<Record<Dialect, DialectRules>> = {
  postgresql: {
    quote: '"',
    now: 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint',
    lock: ' FOR UPDATE SKIP LOCKED',
  },
  mysql: {
    quote: '`',
    // NOW() is in the time zone of the session, where an hour of each autumn is there twice.
    now: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
    lock: ' FOR UPDATE SKIP LOCKED',
  },
  sqlite: {
    quote: '"',
    now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    lock: '',
  },
};

/** A name of a table, with or without its schema, or of a column. */
export function quoted(dialect: Dialect, name: string): string {
  const { quote } = DIALECTS[dialect];
  return name
    .split('.')
    .map((part) => `${quote}${part}${quote}`)
    .join('.');
}
