import type { SqlRow } from './outbox-database.js';

/**
 * Returns the rows of a result: `{ rows }` of `pg`, `[rows, fields]` of `mysql2`, or a list of rows. The result of a statement other than a
 * query may be anything.
 */
export function rowsOf(result: unknown): readonly SqlRow[] {
  if (Array.isArray(result)) return (Array.isArray(result[0]) ? result[0] : result) as readonly SqlRow[];
  return (result as { readonly rows?: readonly SqlRow[] } | null | undefined)?.rows ?? [];
}
