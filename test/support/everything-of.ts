import { inspect } from 'node:util';

/** Everything that an error shows to anybody who inspects it, including its causes. */
export function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)));
  const shown = inspect(error, { depth: Infinity, showHidden: true, compact: false });
  return [error.message, error.stack, JSON.stringify(error), String(error), shown, ...own, everythingOf(error.cause)]
    .join('\n')
    .replaceAll('\\', '');
}
