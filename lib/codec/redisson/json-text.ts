import { randomUUID } from 'node:crypto';

/** Nobody outside can know this, so no text of a payload begins with it. */
const MARK = `${randomUUID()}:`;

/** Only a number of 16 digits or more can be one that a double does not hold. */
const MANY_DIGITS = /\d(?:\.?\d){15}/;
/** A text, even one that does not end, or a number that is no key; what is malformed stays so and is left to the parser. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/g;
/** The escapes of a text, each whole, and what Jackson escapes on top. */
const ESCAPE_OR_SURROGATE = /\\u(....)|\\.|[\ud800-\udfff]/g;
const MARKED_NUMBER = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/**
 * Parses JSON, also where its numbers are more than a double holds: Java has 64-bit integers and decimals of any length.
 *
 * @param readLong - makes a value of a number of 16 digits or more
 * @throws SyntaxError
 */
export function parseJson(text: string, readLong: (literal: string) => unknown): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text) as unknown;
  const marked = text.replace(TEXT_OR_NUMBER, (token) =>
    token.startsWith('"') || !MANY_DIGITS.test(token) ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? readLong(value.slice(MARK.length)) : value,
  ) as unknown;
}

/**
 * Writes JSON by the rules of `JSON.stringify`, and a BigInt as the number it is. The letters are Jackson's, because Redisson
 * finds a message by equal bytes: it escapes surrogate pairs, and with upper case.
 */
export function writeJson(value: string | number | boolean): string;
export function writeJson(value: unknown): string | undefined;
export function writeJson(value: unknown): string | undefined {
  let marked = false;
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'bigint') return part;
    marked = true;
    return `${MARK}${part}`;
  }) as string | undefined;
  const unmarked = marked ? text?.replace(MARKED_NUMBER, '$1') : text;
  return unmarked?.replace(ESCAPE_OR_SURROGATE, (found, code?: string) => {
    if (code !== undefined) return `\\u${code.toUpperCase()}`;
    return found.startsWith('\\') ? found : `\\u${found.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

/** An integer beyond those that a number holds exactly is a BigInt, everything else the nearest number. */
export function numberOf(literal: string): number | bigint {
  const nearest = Number(literal);
  return Number.isSafeInteger(nearest) || !/^-?\d+$/.test(literal) ? nearest : BigInt(literal);
}
