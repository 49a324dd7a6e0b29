import { types } from 'node:util';

const MAX_TEXT = 2000;

/** What is masked may be this much longer: what a cut divides must be recognized. */
const MAX_SECRET = 500;

/** What stands for a value that throws when it is read. */
export const UNREADABLE = 'a value that cannot be shown as text';

/** The login in a URL; passwords that are not encoded may contain anything but a space. A port is none. */
const LOGIN = /:\/\/(?:[^\s/?#@:]*:(?!\d{1,5}[/?#])\S*|[^\s/?#]*)@/g;

/** A password or token in a URL's query, or in the text of a connection. */
const SECRET = /\b(password|passwd|pwd|secret|(?:access_?|auth_?)?token|api_?key)=[^\s&;,"']+/gi;

/** What is read, as text without credentials of URLs, cut to a length. Whatever reading or converting it throws, it is text. */
export function textOf(read: () => unknown, longest = MAX_TEXT): string {
  try {
    const text = String(read());
    if (longest === Infinity) return text;
    return text
      .slice(0, longest + MAX_SECRET)
      .replace(LOGIN, '://***@')
      .replace(SECRET, '$1=***')
      .slice(0, longest);
  } catch {
    return UNREADABLE;
  }
}

/** What is read; undefined if reading it throws. */
export function tryReading<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Also recognises errors of another realm: in jest, the errors that Node.js throws are of one. */
export function isError(thrown: unknown): thrown is Error {
  return types.isNativeError(thrown) || tryReading(() => thrown instanceof Error) === true;
}
