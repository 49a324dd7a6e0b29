/** Shows a given value in an error: short, on one line, and without calling any code of it. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${JSON.stringify(value.slice(0, 100)).slice(1, -1)}'`;
  if (value !== null && (typeof value === 'object' || typeof value === 'function')) return `of type ${typeof value}`;
  return typeof value === 'bigint' ? 'a BigInt' : String(value);
}
