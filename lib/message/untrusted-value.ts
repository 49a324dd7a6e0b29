import { types } from 'node:util';

const MAX_TEXT = 2000;

/** How many characters beyond the cut are also searched for secrets, so that a secret across the cut is recognized. */
const MAX_SECRET = 500;

/** Shown instead of a value that throws when it is read. */
export const UNREADABLE = 'a value that cannot be shown as text';

/** Matches the login in a URL. A password that is not encoded may contain anything but a space; a port is not a login. */
const LOGIN = /:\/\/(?:[^\s/?#@:]*:(?!\d{1,5}[/?#])\S*|[^\s/?#]*)@/g;

/** Matches a password or token in a URL's query, or in a connection string. */
const SECRET = /\b(password|passwd|pwd|secret|(?:access_?|auth_?)?token|api_?key)=[^\s&;,"']+/gi;

/** Reads a value as a string of limited length, without the credentials in URLs. Never throws, even if reading or converting does. */
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

/** Reads a value; returns undefined if reading throws. */
export function tryReading<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** True for any error, even one from another realm, such as those that Node.js throws in Jest. */
export function isError(thrown: unknown): thrown is Error {
  return types.isNativeError(thrown) || tryReading(() => thrown instanceof Error) === true;
}
