import { randomUUID } from 'node:crypto';

/** Random and secret, so no text of a payload begins with it. */
const MARK = `${randomUUID()}:`;

/** Only a number of 16 digits or more may exceed what a double holds exactly. */
const MANY_DIGITS = /\d(?:\.?\d){15}/;
/** A text, even an unterminated one, or a number that is not a key. Malformed JSON stays malformed, for the parser to find. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/g;
/** The complete escapes of a text, and what Jackson escapes in addition. */
const ESCAPE_OR_SURROGATE = /\\u(....)|\\.|[\ud800-\udfff]/g;
const MARKED_NUMBER = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/**
 * Parses JSON whose numbers may exceed a double: Java has 64-bit integers and decimals of any length.
 *
 * @param readLong - converts a number of 16 digits or more
 * @throws SyntaxError if the JSON is malformed
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
 * Writes JSON by the rules of `JSON.stringify`, and a BigInt as a number. The text matches Jackson's byte for byte, because
 * Redisson finds a message by its bytes: surrogate pairs are escaped, with uppercase digits.
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

/** Converts an integer that a number cannot hold exactly to a BigInt, and everything else to the nearest number. */
export function numberOf(literal: string): number | bigint {
  const nearest = Number(literal);
  return Number.isSafeInteger(nearest) || !/^-?\d+$/.test(literal) ? nearest : BigInt(literal);
}
