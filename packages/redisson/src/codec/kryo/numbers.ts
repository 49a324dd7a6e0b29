import { type Int64, int64, isInt64 } from './int64.js';
import { MalformedBytes, UnwritableValue } from './kryo-failures.js';
import type { KryoInput } from './kryo-input.js';
import type { KryoOutput } from './kryo-output.js';
import type { Scalar } from './kryo-serializer.js';

const INTEGER = /^[+-]?\d+$/;
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,10}))?$/;
const LEAST_INT = -(2 ** 31);
const GREATEST_INT = 2 ** 31 - 1;
/** The exponent below which Java prints a small decimal with an exponent. */
const LEAST_EXPONENT = -6;

/** Reads an integer given as a number, a BigInt or text. */
export function integerOf(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && INTEGER.test(value)) return BigInt(value);
  throw new UnwritableValue(`${what} takes an integer: a safe number, a BigInt or text with digits only`);
}

/** Reads a long given as a number, a BigInt or text. */
export function longOf(value: unknown, what: string): bigint {
  const integer = integerOf(value, what);
  if (!isInt64(integer)) throw new UnwritableValue(`${what} has 64 bits; the value has more`);
  return integer;
}

/** Reads an integer within a range, given as a number, a BigInt or text. */
export function rangedOf(value: unknown, what: string, [least, greatest]: readonly [number, number]): number {
  const integer = Number(integerOf(value, what));
  if (integer < least || integer > greatest) throw new UnwritableValue(`${what} is within ${least} and ${greatest}`);
  return integer;
}

export function intOf(value: unknown, what: string): number {
  return rangedOf(value, what, [LEAST_INT, GREATEST_INT]);
}

/** True if a number in a place without a declared type is an Integer. */
export function isInt(value: number): boolean {
  return Number.isInteger(value) && value >= LEAST_INT && value <= GREATEST_INT && !Object.is(value, -0);
}

function realOf(value: unknown, what: string): number {
  if (typeof value !== 'number') throw new UnwritableValue(`${what} takes a number`);
  return value;
}

/** Returns the shortest number that is this float: 1.1, and not 1.10000002384. */
function shortest(float: number): number {
  for (let digits = 1; digits < 10 && Number.isFinite(float); digits++) {
    const candidate = Number(float.toPrecision(digits));
    if (Math.fround(candidate) === float) return Object.is(float, -0) ? float : candidate;
  }
  return float;
}

function floatOf(value: unknown): number {
  const real = realOf(value, 'a float');
  const float = Math.fround(real);
  if (Object.is(float, real) || shortest(float) === real) return float;
  throw new UnwritableValue('a float has 7 digits; the number has more');
}

function bytesOf(integer: bigint): Buffer {
  const magnitude = integer < 0n ? -integer - 1n : integer;
  const length = (magnitude.toString(16).length + (/^[89a-f]/.test(magnitude.toString(16)) ? 1 : 0) + 1) >> 1;
  const unsigned = BigInt.asUintN(length * 8, integer);
  return Buffer.from(unsigned.toString(16).padStart(length * 2, '0'), 'hex');
}

function bigOf(bytes: Buffer): bigint {
  if (bytes.length === 0) throw new MalformedBytes('a BigInteger has no digits');
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

function writeBig(output: KryoOutput, integer: bigint): void {
  const bytes = bytesOf(integer);
  output.varInt(bytes.length + 1);
  output.raw(bytes);
}

function readBig(input: KryoInput): bigint | null {
  const length = input.varInt();
  if (length === 0) return null;
  if (length < 0) throw new MalformedBytes('a BigInteger is too long');
  return bigOf(input.take(length - 1));
}

/** Prints as `BigDecimal.toString()` does. */
function printDecimal(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled);
  const exponent = digits.length - 1 - scale;
  if (scale === 0) return sign + digits;
  if (scale > 0 && exponent >= LEAST_EXPONENT) {
    const padded = digits.padStart(scale + 1, '0');
    return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  }
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  return `${sign}${mantissa}${exponent === 0 ? '' : `E${exponent > 0 ? '+' : ''}${exponent}`}`;
}

function decimalOf(value: unknown): { unscaled: bigint; scale: number } {
  if (typeof value === 'bigint') return { unscaled: value, scale: 0 };
  const [, sign, whole = '', fraction = '', exponent] =
    (typeof value === 'number' || typeof value === 'string' ? DECIMAL.exec(String(value)) : null) ?? [];
  const scale = fraction.length - Number(exponent ?? 0);
  if (sign === undefined || whole + fraction === '' || scale < LEAST_INT || scale > GREATEST_INT) {
    throw new UnwritableValue('a BigDecimal takes a number, a BigInt, or text such as 12.50');
  }
  return { unscaled: BigInt(whole + fraction) * (sign === '-' ? -1n : 1n), scale };
}

function decimalForm(text: string): number | string {
  const number = Number(text);
  return String(number) === text ? number : text;
}

const long = (what: string): Scalar => ({
  write: (output, value) => output.zigzagLong(longOf(value, what)),
  read: (input): Int64 => input.zigzagLong(),
});
const int = (what: string): Scalar => ({
  write: (output, value) => output.zigzagInt(intOf(value, what)),
  read: (input) => input.zigzagInt(),
});
const short = (what: string): Scalar => ({
  write: (output, value) => output.int16(rangedOf(value, what, [-32_768, 32_767])),
  read: (input) => input.int16(),
});
const byte = (what: string): Scalar => ({
  write: (output, value) => output.byte(rangedOf(value, what, [-128, 127]) & 0xff),
  read: (input) => input.int8(),
});
const float: Scalar = {
  write: (output, value) => output.float(floatOf(value)),
  read: (input) => shortest(input.float()),
};
const double = (what: string): Scalar => ({
  write: (output, value) => output.double(realOf(value, what)),
  read: (input) => input.double(),
});
const boolean = (what: string): Scalar => ({
  write(output, value) {
    if (typeof value !== 'boolean') throw new UnwritableValue(`${what} takes a boolean`);
    output.boolean(value);
  },
  read: (input) => input.boolean(),
});
const character = (what: string): Scalar => ({
  write(output, value) {
    if (typeof value !== 'string' || value.length !== 1) {
      throw new UnwritableValue(`${what} takes text of one UTF-16 unit`);
    }
    output.int16(value.charCodeAt(0));
  },
  read: (input) => String.fromCharCode(input.uint16()),
});

/** Numbers, booleans and characters, by class or primitive type. */
export const numbers: Readonly<Record<string, Scalar>> = {
  int: int('an int'),
  long: long('a long'),
  short: short('a short'),
  byte: byte('a byte'),
  float,
  double: double('a double'),
  boolean: boolean('a boolean'),
  char: character('a char'),
  'java.lang.Integer': int('an Integer'),
  'java.lang.Long': long('a Long'),
  'java.lang.Short': short('a Short'),
  'java.lang.Byte': byte('a Byte'),
  'java.lang.Float': float,
  'java.lang.Double': double('a Double'),
  'java.lang.Boolean': boolean('a Boolean'),
  'java.lang.Character': character('a Character'),
  'java.math.BigInteger': {
    acceptsNull: true,
    write: (output, value) => (value === null ? output.byte(0) : writeBig(output, integerOf(value, 'a BigInteger'))),
    read(input) {
      const integer = readBig(input);
      return integer === null ? null : int64(integer);
    },
  },
  'java.math.BigDecimal': {
    acceptsNull: true,
    write(output, value) {
      if (value === null) return output.byte(0);
      const { unscaled, scale } = decimalOf(value);
      writeBig(output, unscaled);
      output.zigzagInt(scale);
    },
    read(input) {
      const unscaled = readBig(input);
      return unscaled === null ? null : decimalForm(printDecimal(unscaled, input.zigzagInt()));
    },
  },
  'java.util.concurrent.atomic.AtomicInteger': {
    write: (output, value) => output.int32(intOf(value, 'an AtomicInteger')),
    read: (input) => input.int32(),
  },
  'java.util.concurrent.atomic.AtomicLong': {
    write: (output, value) => output.int64(longOf(value, 'an AtomicLong')),
    read: (input) => input.int64(),
  },
  'java.util.concurrent.atomic.AtomicBoolean': boolean('an AtomicBoolean'),
};
