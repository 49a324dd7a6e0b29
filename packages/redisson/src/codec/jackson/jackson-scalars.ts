import { types } from 'node:util';
import { javaDouble, javaFloat, plainDecimal } from '../java/java-decimal.js';
import { type JsonNode, numberOf, NumberText } from '../json-text.js';

/** How Jackson writes a Java type without parts, apart from the type wrapper. */
export interface Scalar {
  /** The values that a payload may hold for it, in words. */
  readonly accepts: string;
  /** Undefined if Jackson does not write this type like this. */
  read(node: JsonNode): unknown;
  /** Undefined if the type cannot hold the value exactly. */
  write(value: unknown): string | undefined;
}

/** The differences between versions of Jackson. */
export interface ScalarRules {
  readonly quote: (text: string) => string;
  readonly writeDate: (date: Date) => string;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const LATEST = 8.64e15;

/** The scalars by the name of their class, as in Java's `Class.getName()`. */
export function scalarsBy({ quote, writeDate }: ScalarRules): ReadonlyMap<string, Scalar> {
  const text = textual(quote, 'text', () => true);
  const date = dates(writeDate);
  const int = integers(32);
  const long = integers(64);
  const flag: Scalar = {
    accepts: 'true or false',
    read: (node) => (typeof node === 'boolean' ? node : undefined),
    write: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  };
  const character = textual(quote, 'text of one character', (value) => value.length === 1);
  return new Map<string, Scalar>([
    ['java.lang.String', text],
    ['[C', text],
    ['char', character],
    ['java.lang.Character', character],
    ['boolean', flag],
    ['java.lang.Boolean', flag],
    ['java.util.concurrent.atomic.AtomicBoolean', flag],
    ['byte', integers(8)],
    ['java.lang.Byte', integers(8)],
    ['short', integers(16)],
    ['java.lang.Short', integers(16)],
    ['int', int],
    ['java.lang.Integer', int],
    ['java.util.concurrent.atomic.AtomicInteger', int],
    ['long', long],
    ['java.lang.Long', long],
    ['java.util.concurrent.atomic.AtomicLong', long],
    ['java.math.BigInteger', integers()],
    ['float', FLOAT],
    ['java.lang.Float', FLOAT],
    ['double', DOUBLE],
    ['java.lang.Double', DOUBLE],
    ['java.math.BigDecimal', BIG_DECIMAL],
    ['java.util.Date', date],
    ['java.sql.Timestamp', date],
    ['java.util.Calendar', date],
    ['java.util.GregorianCalendar', date],
    ['java.util.UUID', textual(quote, 'a UUID as text, in lower case', (value) => UUID.test(value))],
    ['[B', bytes(quote)],
  ]);
}

/** An enum, whose constants are written as text. */
export function enumOf(constants: readonly string[], quote: (text: string) => string): Scalar {
  return textual(quote, `one of ${constants.join(', ')}`, (value) => constants.includes(value));
}

function textual(quote: (text: string) => string, accepts: string, fits: (text: string) => boolean): Scalar {
  return {
    accepts,
    read: (node) => (typeof node === 'string' && fits(node) ? node : undefined),
    write: (value) => (typeof value === 'string' && fits(value) ? quote(value) : undefined),
  };
}

function integers(bits?: number): Scalar {
  const least = bits === undefined ? undefined : -(2n ** BigInt(bits - 1));
  const fits = (value: bigint) => least === undefined || (value >= least && value < -least);
  return {
    accepts: bits === undefined ? 'an integer' : `an integer of ${bits} bits`,
    read(node) {
      const value = node instanceof NumberText ? numberOf(node.literal) : node;
      return isInteger(value) && fits(BigInt(value)) ? value : undefined;
    },
    write: (value) => (isInteger(value) && fits(BigInt(value)) ? String(value) : undefined),
  };
}

/** Not beyond 2⁵³, where a number may stand for its neighbours. */
function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

const DOUBLE: Scalar = {
  accepts: 'a number',
  read: nearestNumber,
  write(value) {
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
    return typeof value === 'bigint' && BigInt(number) !== value ? undefined : javaDouble(number);
  },
};

const FLOAT: Scalar = {
  accepts: 'a number that fits in a float',
  read: nearestNumber,
  write: (value) => (typeof value === 'number' && Number.isFinite(value) ? javaFloat(value) : undefined),
};

const BIG_DECIMAL: Scalar = {
  accepts: 'a number, a BigInt or its digits as text',
  read(node) {
    if (typeof node === 'number') return node;
    return node instanceof NumberText ? node.literal : undefined;
  },
  write(value) {
    if (typeof value === 'string') return DECIMAL.test(value) ? value : undefined;
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'number' && Number.isFinite(value) ? plainDecimal(value) : undefined;
  },
};

function nearestNumber(node: JsonNode): number | undefined {
  if (node instanceof NumberText) return Number(node.literal);
  return typeof node === 'number' ? node : undefined;
}

/** Does not read a date of Java's beyond those of JavaScript, which stays what it is. */
function dates(writeDate: (date: Date) => string): Scalar {
  return {
    accepts: 'a Date',
    read(node) {
      const time = typeof node === 'string' ? Date.parse(node) : nearestNumber(node);
      return time !== undefined && Math.abs(time) <= LATEST ? new Date(time) : undefined;
    },
    write: (value) =>
      types.isDate(value) && !Number.isNaN(Date.prototype.getTime.call(value)) ? writeDate(value) : undefined,
  };
}

function bytes(quote: (text: string) => string): Scalar {
  return {
    accepts: 'a Buffer or another Uint8Array',
    read(node) {
      if (typeof node !== 'string') return undefined;
      const buffer = Buffer.from(node, 'base64');
      return buffer.toString('base64') === node ? buffer : undefined;
    },
    write(value) {
      if (!types.isUint8Array(value)) return undefined;
      return quote(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'));
    },
  };
}
