import { randomUUID } from 'node:crypto';

/** Random and secret, so no text of a payload begins with it. */
const MARK = `${randomUUID()}:`;

/** Matches numbers that JavaScript may print differently, such as `12.50`, `1.0E7`, `-0` or one of 16 digits, and integers as keys. */
const NEEDS_MARKS =
  /(?:^|[[,:])\s*(?:-0|-?\d+(?:\.\d+)?[eE]|-?\d(?:\.?\d){15}|-?\d+\.\d*0(?!\d))|[{,]\s*"(?:0|[1-9]\d{0,9})"\s*:/;
/** Matches a text, even an unterminated one, or a number that is not a key. Malformed JSON stays malformed, for the parser to find. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/g;
const INTEGER_TEXT = /^"(?:0|[1-9]\d{0,9})"$/;
const COLON = /\s*:/y;

/** A number that JavaScript would print differently. */
export class NumberText {
  constructor(readonly literal: string) {}
}

/** A parsed value of JSON, with a {@link NumberText} where a number would lose information. */
export type JsonNode = string | number | boolean | null | NumberText | JsonNode[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonNode;
}

export interface ParsedJson {
  readonly root: JsonNode;
  /** Returns the keys of an object in the order of the text. */
  keysOf(object: JsonObject): readonly string[];
}

/**
 * Parses JSON without losing the text of numbers, or the order of keys, although JavaScript puts integers before other keys.
 * @throws SyntaxError if the JSON is malformed
 */
export function parseJson(text: string): ParsedJson {
  if (!NEEDS_MARKS.test(text)) return { root: JSON.parse(text) as JsonNode, keysOf: Object.keys };
  const marked = text.replace(TEXT_OR_NUMBER, (token, at: number) => {
    if (!token.startsWith('"')) return printsBack(token) ? token : `"${MARK}${token}"`;
    return INTEGER_TEXT.test(token) && isKey(text, at + token.length) ? `"${MARK}${token.slice(1)}` : token;
  });
  const orders = new Map<object, readonly string[]>();
  const root = unmark(JSON.parse(marked) as JsonNode, orders);
  return { root, keysOf: (object) => orders.get(object) ?? Object.keys(object) };
}

/** True if JavaScript prints a number as it was written, and takes no other for it. */
function printsBack(literal: string): boolean {
  const number = Number(literal);
  return String(number) === literal && (Number.isSafeInteger(number) || !Number.isInteger(number));
}

function isKey(text: string, end: number): boolean {
  COLON.lastIndex = end;
  return COLON.test(text);
}

/** Replaces marked texts in place. An object with marked keys is made anew. */
function unmark(node: JsonNode, orders: Map<object, readonly string[]>): JsonNode {
  if (typeof node === 'string') return node.startsWith(MARK) ? new NumberText(node.slice(MARK.length)) : node;
  if (typeof node !== 'object' || node === null) return node;
  const parts = node as JsonObject;
  const keys = Object.keys(parts);
  for (const key of keys) parts[key] = unmark(parts[key]!, orders);
  if (Array.isArray(node) || !keys.some((key) => key.startsWith(MARK))) return node;
  const names = keys.map((key) => (key.startsWith(MARK) ? key.slice(MARK.length) : key));
  // Built from entries, so that `__proto__` is a key like any other.
  const object = Object.fromEntries(names.map((name, i) => [name, parts[keys[i]!]!]));
  orders.set(object, [...new Set(names)]);
  return object;
}

/** Writes a parsed value as Java wrote it. */
export function writeNode(node: JsonNode, quote: (text: string) => string): string {
  if (typeof node === 'string') return quote(node);
  if (node instanceof NumberText) return node.literal;
  if (typeof node !== 'object' || node === null) return String(node);
  if (Array.isArray(node)) return `[${node.map((element) => writeNode(element, quote)).join(',')}]`;
  return `{${Object.entries(node)
    .map(([key, value]) => `${quote(key)}:${writeNode(value, quote)}`)
    .join(',')}}`;
}

/** Matches quotation marks, backslashes, control characters and surrogates. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
/** Matches the complete escapes of a text, and what Jackson 2 escapes in addition. */
const ESCAPE_OR_SURROGATE = /\\u(....)|\\.|[\ud800-\udfff]/g;
const ESCAPE = /\\u(....)|\\./g;

/**
 * Writes a text as Jackson 2 does, byte for byte, because Redisson finds a message by its bytes. Surrogate pairs are escaped, with
 * uppercase digits.
 */
export function quoteJson(text: string): string {
  if (!ESCAPED.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(ESCAPE_OR_SURROGATE, (found, code?: string) => {
    if (code !== undefined) return `\\u${code.toUpperCase()}`;
    return found.startsWith('\\') ? found : `\\u${found.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

/** Writes a text as Jackson 3 does, which leaves surrogate pairs as they are. */
export function quoteJson3(text: string): string {
  if (!ESCAPED.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(ESCAPE, (found, code?: string) =>
    code === undefined ? found : `\\u${code.toUpperCase()}`,
  );
}

/** Converts an integer that a number cannot hold exactly to a BigInt, and everything else to the nearest number. */
export function numberOf(literal: string): number | bigint {
  const nearest = Number(literal);
  return Number.isSafeInteger(nearest) || !/^-?\d+$/.test(literal) ? nearest : BigInt(literal);
}
