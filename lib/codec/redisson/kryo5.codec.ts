import type { PayloadCodec } from './payload-codec.js';
import { unreadable, unwritable } from './payload-errors.js';

/** What Kryo writes before a String: the number of that class in its registry. */
const STRING = 0x03;
/** On the first byte it means that a length follows; in short ASCII it marks the last byte. */
const FLAG = 0x80;
const LONGEST_SHORT_ASCII = 32;

const CONTINUED_FIRST = 0x40;
const CONTINUED = 0x80;

/**
 * Strings as written by Redisson's `Kryo5Codec`, its default codec since 3.19. Everything else in Kryo depends on Java classes
 * and is refused.
 *
 * After the byte for String, 2 to 32 ASCII characters are written as they are, the last one with its highest bit set. All
 * other strings are preceded by their length + 1 in UTF-16 units, each of which takes 1 to 3 bytes: a surrogate pair takes 6,
 * unlike in UTF-8.
 */
export const kryo5Codec: PayloadCodec = {
  encode(payload) {
    if (typeof payload !== 'string') {
      throw unwritable(
        `codec 'kryo5' accepts only strings, not ${payload === null ? 'null' : typeof payload}: everything else in Kryo is specific to Java`,
      );
    }
    const characters = writeCharacters(payload);
    const isShortAscii =
      payload.length > 1 && payload.length <= LONGEST_SHORT_ASCII && characters.length === payload.length;
    if (!isShortAscii) return Buffer.concat([Buffer.of(STRING), writeLength(payload.length + 1), characters]);
    characters[characters.length - 1]! |= FLAG;
    return Buffer.concat([Buffer.of(STRING), characters]);
  },

  decode(bytes) {
    if (bytes[0] !== STRING) throw unreadable(bytes, 'kryo5', 'they are not a string, and only strings can be read');
    const text = ((bytes[1] ?? 0) & FLAG) === 0 ? readShortAscii(bytes) : readMeasured(bytes);
    if (text === undefined) throw unreadable(bytes, 'kryo5', 'the string is malformed');
    return text;
  },
};

function writeLength(length: number): Buffer {
  const bytes = [FLAG | (length & 0x3f)];
  for (let rest = length >>> 6; rest > 0; rest >>>= 7) {
    bytes[bytes.length - 1]! |= bytes.length === 1 ? CONTINUED_FIRST : CONTINUED;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function writeCharacters(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      bytes[at++] = unit;
    } else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes.subarray(0, at);
}

function readShortAscii(bytes: Buffer): string | undefined {
  const end = bytes.findIndex((byte, i) => i > 0 && (byte & FLAG) !== 0);
  if (end < 0 || end !== bytes.length - 1) return undefined;
  const characters = Buffer.from(bytes.subarray(1));
  characters[characters.length - 1]! &= ~FLAG;
  return characters.toString('latin1');
}

function readMeasured(bytes: Buffer): string | undefined {
  const { value, end } = readLength(bytes);
  // 0 stands for null, which is not a string.
  if (value < 1) return undefined;
  const length = value - 1;
  const units: string[] = [];
  let at = end;
  while (units.length < length) {
    const [unit, size] = readUnit(bytes, at);
    if (unit === undefined) return undefined;
    units.push(String.fromCharCode(unit));
    at += size;
  }
  return at === bytes.length ? units.join('') : undefined;
}

function readLength(bytes: Buffer): { value: number; end: number } {
  let value = bytes[1]! & 0x3f;
  let goesOn = (bytes[1]! & CONTINUED_FIRST) !== 0;
  let at = 2;
  // A Java int never takes a sixth byte.
  for (let weight = 2 ** 6; goesOn && at < 6; weight *= 2 ** 7) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * weight;
    goesOn = (byte & CONTINUED) !== 0;
  }
  return { value, end: at };
}

/** Reads a UTF-16 unit and how many bytes it takes; undefined if none begins there. */
function readUnit(bytes: Buffer, at: number): [unit: number | undefined, size: number] {
  const [first, second, third] = [bytes[at], bytes[at + 1], bytes[at + 2]];
  if (first === undefined) return [undefined, 0];
  if (first < 0x80) return [first, 1];
  if (!isContinuation(second)) return [undefined, 0];
  if (first >> 5 === 0b110) return [((first & 0x1f) << 6) | (second & 0x3f), 2];
  if (first >> 4 !== 0b1110 || !isContinuation(third)) return [undefined, 0];
  return [((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f), 3];
}

function isContinuation(byte: number | undefined): byte is number {
  return byte !== undefined && byte >> 6 === 0b10;
}
