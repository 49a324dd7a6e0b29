import { type Int64, int64 } from './int64.js';
import { MalformedBytes } from './kryo-failures.js';

const FLAG = 0x80;
const CONTINUED_FIRST = 0x40;
/** Maximum number of elements of collections that take no bytes: nulls, and objects without fields. No real message has more. */
const EMPTY_ELEMENTS = 65_536;

/** Reads what Kryo's `Output` writes, and nothing beyond the bytes. */
export class KryoInput {
  #at = 0;
  /** Number of elements that all collections together may still have. */
  #elements: number;

  constructor(private readonly bytes: Buffer) {
    this.#elements = bytes.length + EMPTY_ELEMENTS;
  }

  get left(): number {
    return this.bytes.length - this.#at;
  }

  byte(): number {
    return this.bytes[this.#advance(1)]!;
  }

  int8(): number {
    return this.bytes.readInt8(this.#advance(1));
  }

  int16(): number {
    return this.bytes.readInt16LE(this.#advance(2));
  }

  uint16(): number {
    return this.bytes.readUInt16LE(this.#advance(2));
  }

  int32(): number {
    return this.bytes.readInt32LE(this.#advance(4));
  }

  int64(): Int64 {
    return int64(this.bytes.readBigInt64LE(this.#advance(8)));
  }

  uint64(): bigint {
    return this.bytes.readBigUInt64LE(this.#advance(8));
  }

  float(): number {
    return this.bytes.readFloatLE(this.#advance(4));
  }

  double(): number {
    return this.bytes.readDoubleLE(this.#advance(8));
  }

  boolean(): boolean {
    const byte = this.byte();
    if (byte > 1) throw new MalformedBytes('a boolean is neither true nor false');
    return byte === 1;
  }

  /** Returns the next bytes, which share memory with all others. */
  take(length: number): Buffer {
    const start = this.#advance(length);
    return this.bytes.subarray(start, start + length);
  }

  varInt(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < FLAG) return value;
    }
    return value | (this.#lastBits(0x0f) << 28);
  }

  zigzagInt(): number {
    const value = this.varInt();
    return (value >>> 1) ^ -(value & 1);
  }

  varLong(): Int64 {
    const value = this.#unsignedLong();
    return typeof value === 'number' ? value : int64(BigInt.asIntN(64, value));
  }

  zigzagLong(): Int64 {
    const value = this.#unsignedLong();
    if (typeof value === 'number') return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    return int64((value >> 1n) ^ -(value & 1n));
  }

  /** True if the next byte has the flag of {@link flaggedInt}. */
  get hasFlag(): boolean {
    if (this.left < 1) throw endOfBytes();
    return (this.bytes[this.#at]! & FLAG) !== 0;
  }

  flaggedInt(): number {
    const first = this.byte();
    let value = first & 0x3f;
    if ((first & CONTINUED_FIRST) === 0) return value;
    for (let shift = 6; shift < 27; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < FLAG) return value;
    }
    return value | (this.#lastBits(0x0f) << 27);
  }

  /** Checks the length of a collection or an array before memory is used for it. @param plusOne - the length + 1; 0 is null */
  length(plusOne: number): number {
    const length = plusOne - 1;
    this.#elements -= length;
    if (length < 0 || this.#elements < 0) throw new MalformedBytes('a collection is longer than the bytes');
    return length;
  }

  string(): string | null {
    if (!this.hasFlag) return this.#markedAscii();
    const length = this.flaggedInt() - 1;
    if (length < 0) return null;
    if (length > this.left) throw endOfBytes();
    return this.#measured(length);
  }

  /** Reads ASCII without a length, whose last byte is marked. */
  #markedAscii(): string {
    const start = this.#at;
    while (!this.hasFlag) this.#at++;
    const last = this.byte() & ~FLAG;
    return this.bytes.toString('latin1', start, this.#at - 1) + String.fromCharCode(last);
  }

  #measured(length: number): string {
    const start = this.#at;
    let at = start;
    while (at < start + length && this.bytes[at]! < FLAG) at++;
    this.#at = at;
    const ascii = this.bytes.toString('latin1', start, at);
    if (at === start + length) return ascii;
    const units: string[] = [ascii];
    for (let i = at - start; i < length; i++) units.push(String.fromCharCode(this.#unit()));
    return units.join('');
  }

  /** Reads a UTF-16 unit of 1 to 3 bytes. A surrogate pair takes 6, unlike in UTF-8. */
  #unit(): number {
    const first = this.byte();
    if (first < FLAG) return first;
    if (first >> 5 === 0b110) return ((first & 0x1f) << 6) | this.#continuation();
    if (first >> 4 === 0b1110) return ((first & 0x0f) << 12) | (this.#continuation() << 6) | this.#continuation();
    throw new MalformedBytes('a text is malformed');
  }

  #continuation(): number {
    const byte = this.byte();
    if (byte >> 6 !== 0b10) throw new MalformedBytes('a text is malformed');
    return byte & 0x3f;
  }

  /** Reads 7 bits from each byte, and all 8 of a ninth. */
  #unsignedLong(): Int64 {
    let value = 0;
    for (let weight = 1; weight < 2 ** 49; weight *= 2 ** 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * weight;
      if (byte < FLAG) return value;
    }
    const eighth = this.byte();
    const rest = BigInt(value) + (BigInt(eighth & 0x7f) << 49n);
    return eighth < FLAG ? rest : rest + (BigInt(this.byte()) << 56n);
  }

  #lastBits(most: number): number {
    const byte = this.byte();
    if (byte > most) throw new MalformedBytes('an integer is too long');
    return byte;
  }

  #advance(length: number): number {
    const start = this.#at;
    if (length > this.left) throw endOfBytes();
    this.#at += length;
    return start;
  }
}

function endOfBytes(): MalformedBytes {
  return new MalformedBytes('they end too early');
}
