import { CLASS, isJavasOwn } from './jackson.classes.js';
import { numberOf, parseJson } from './json-text.js';

/** Arrays (`[L…;`, `[B`…), or packages and a class by naming convention; an EnumSet also has type parameters. */
const CLASS_NAME = /^(?:\[+(?:[BCDFIJSZ]|L[\w.$]+;)|(?:[\p{L}_][\w$]*\.)+[A-Z][\w$]*(?:<.*>)?)$/u;
const DATES: ReadonlySet<string> = new Set(['java.util.Date', 'java.sql.Timestamp', 'java.sql.Date']);

/** A number with more digits than a double can hold exactly. */
class LongNumber {
  constructor(readonly literal: string) {}
}

/** Parses what `JsonJacksonCodec` writes, and removes Java's type wrappers. */
export function readJackson(text: string): unknown {
  return unwrap(parseJson(text, (literal) => new LongNumber(literal)));
}

function unwrap(value: unknown): unknown {
  if (Array.isArray(value)) return isWrapper(value) ? unwrapAs(...value) : unwrapAll(value);
  if (value instanceof LongNumber) return numberOf(value.literal);
  return typeof value === 'object' && value !== null ? unwrapObject(value) : value;
}

function isWrapper(array: unknown[]): array is [type: string, content: unknown] {
  return array.length === 2 && typeof array[0] === 'string' && CLASS_NAME.test(array[0]);
}

function unwrapAs(type: string, content: unknown): unknown {
  // The content of a wrapper is never a wrapper: ["java.util.ArrayList",["java.lang.Long",5]] is a list of a text and a number.
  if (Array.isArray(content)) return unwrapAll(content);
  if (content instanceof LongNumber && type === 'java.math.BigDecimal') return content.literal;
  if (typeof content === 'string' && type === '[B') return Buffer.from(content, 'base64');
  if (DATES.has(type) && (typeof content === 'number' || content instanceof LongNumber)) {
    return new Date(typeof content === 'number' ? content : Number(content.literal));
  }
  return unwrap(content);
}

function unwrapAll(array: unknown[]): unknown[] {
  return array.map(unwrap);
}

/** Built from entries, so that `__proto__` is a key like any other. */
function unwrapObject(object: object): object {
  const entries = Object.entries(object).filter(
    ([key, value]) => key !== CLASS || typeof value !== 'string' || !isJavasOwn(value),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, unwrap(value)]));
}
