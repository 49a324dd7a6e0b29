/** What was given in place of something valid, as an error shows it: short, on one line, and never by code of its own. */
export function showGiven(value: unknown): string {
  if (typeof value === 'string') return `'${JSON.stringify(value.slice(0, 100)).slice(1, -1)}'`;
  if (value !== null && (typeof value === 'object' || typeof value === 'function')) return `of type ${typeof value}`;
  return typeof value === 'bigint' ? 'a BigInt' : String(value);
}
