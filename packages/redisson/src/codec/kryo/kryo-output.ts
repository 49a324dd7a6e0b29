const FLAG = 0x80;
const CONTINUED_FIRST = 0x40;
const MAX_SHORT_ASCII = 32;
const FIRST_SIZE = 256;
/** Makes a negative long the unsigned one that a varint holds. */
const MASK = 2n ** 64n - 1n;

/** Writes as Kryo's `Output` does. */
export class KryoOutput {
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  /** Copies what has been written since a position; by default everything. */
  copy(from = 0): Buffer {
    return Buffer.from(this.#bytes.subarray(from, this.#length));
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    const at = this.#reserve(1);
    this.#bytes[at] = value;
  }

  int16(value: number): void {
    const at = this.#reserve(2);
    this.#bytes.writeUInt16LE(value & 0xffff, at);
  }

  int32(value: number): void {
    const at = this.#reserve(4);
    this.#bytes.writeInt32LE(value, at);
  }

  int64(value: bigint): void {
    const at = this.#reserve(8);
    this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), at);
  }

  float(value: number): void {
    const at = this.#reserve(4);
    this.#bytes.writeFloatLE(value, at);
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  boolean(value: boolean): void {
    this.byte(value ? 1 : 0);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Writes an int that is short if it is not negative. */
  varInt(value: number): void {
    let rest = value >>> 0;
    for (; rest >= FLAG; rest >>>= 7) this.byte((rest & 0x7f) | FLAG);
    this.byte(rest);
  }

  /** Writes an int that is short if it is near 0. */
  zigzagInt(value: number): void {
    this.varInt((value << 1) ^ (value >> 31));
  }

  /** Writes a long that is short if it is not negative. */
  varLong(value: bigint): void {
    let rest = value & MASK;
    for (let i = 0; i < 8 && rest >= 0x80n; i++, rest >>= 7n) this.byte(Number(rest & 0x7fn) | FLAG);
    this.byte(Number(rest));
  }

  /** Writes a long that is short if it is near 0. */
  zigzagLong(value: bigint): void {
    this.varLong((value << 1n) ^ (value >> 63n));
  }

  /** Writes an int that is not negative, with a flag in its first byte. */
  flaggedInt(flag: boolean, value: number): void {
    const first = (value & 0x3f) | (flag ? FLAG : 0);
    if (value >>> 6 === 0) return this.byte(first);
    this.byte(first | CONTINUED_FIRST);
    this.varInt(value >>> 6);
  }

  /**
   * Writes 2 to 32 ASCII characters as they are, the last one with its highest bit set. All other strings follow their length + 1 in UTF-16
   * units, each of which takes 1 to 3 bytes.
   */
  string(text: string | null): void {
    if (text === null) return this.byte(FLAG);
    if (text.length > 1 && text.length <= MAX_SHORT_ASCII && isAscii(text)) return this.#markedAscii(text);
    this.flaggedInt(true, text.length + 1);
    this.#units(text);
  }

  /** Writes the name of a class: ASCII of any length, with a mark at the end instead of a length. */
  name(text: string): void {
    if (text.length > 1 && isAscii(text)) this.#markedAscii(text);
    else this.string(text);
  }

  #markedAscii(text: string): void {
    const at = this.#reserve(text.length);
    this.#bytes.write(text, at, 'latin1');
    this.#bytes[this.#length - 1]! |= FLAG;
  }

  #units(text: string): void {
    let at = this.#reserve(text.length * 3);
    const bytes = this.#bytes;
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
    this.#length = at;
  }

  #reserve(length: number): number {
    const at = this.#length;
    if (at + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#length += length;
    return at;
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
}
