/** Replaces each `?` of a statement with `$1`, `$2`… No statement of the outbox has a question mark in a text. */
export function numbered(statement: string): string {
  let count = 0;
  return statement.replace(/\?/g, () => `$${++count}`);
}
