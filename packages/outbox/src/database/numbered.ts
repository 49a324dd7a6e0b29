/** A statement with `$1`, `$2`… in the place of each `?`. No statement of the outbox has a question mark in a text. */
export function numbered(statement: string): string {
  let count = 0;
  return statement.replace(/\?/g, () => `$${++count}`);
}
