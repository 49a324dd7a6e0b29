import type { EntryFormat } from '../../src/index.js';

/*
 * A second implementation of the entries in Redisson's sorted set and list. The package ships `entry.lua`, which tests
 * compare with this one and with what Java wrote.
 *
 * | format | bytes, little-endian |
 * |---|---|
 * | `Bc0Lc0` | 1 byte: length of the id (8) · the id · 8 bytes: length of the value · the value |
 * | `dLc0` | 8 bytes: the id, a double · 8 bytes: length of the value · the value |
 */

/** The content of an entry: the codec's bytes, and an id that tells entries with equal values apart. */
export interface Entry {
  readonly format: EntryFormat;
  /** 8 bytes in everything Redisson writes. */
  readonly id: Buffer;
  readonly value: Buffer;
}

/** An entry, or why the bytes are not one. `id` and `value` share the memory of the bytes. */
export type DecodedEntry =
  ({ readonly readable: true } & Entry) | { readonly readable: false; readonly reason: string };

const ID_BYTES = 8;
const LENGTH_BYTES = 8;

/** Java accepts any eight bytes as the id, even in the old format. */
export function encodeEntry({ format, id, value }: Entry): Buffer {
  if (id.length !== ID_BYTES) {
    throw new RangeError(`The id of an entry has ${ID_BYTES} bytes, not ${id.length}`);
  }
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(value.length));
  const head = format === 'Bc0Lc0' ? Buffer.of(ID_BYTES) : Buffer.alloc(0);
  return Buffer.concat([head, id, length, value]);
}

/**
 * Reads an entry in either format. The format shows in the bytes, because the length of the value must match what is left.
 *
 * Some bytes fit both. A random old id whose first byte is 7 looks like a new entry with an id of 7 bytes, and a new entry
 * without a value can look like an old one with the value `00`. So the order is: new with an id of 8 bytes, as Redisson
 * writes it; old; new with an id of another length, which Redisson would read too.
 */
export function decodeEntry(bytes: Buffer): DecodedEntry {
  const asNew = read(bytes, 'Bc0Lc0');
  if (asNew?.id.length === ID_BYTES) return { readable: true, ...asNew };
  const entry = read(bytes, 'dLc0') ?? asNew;
  if (entry !== undefined) return { readable: true, ...entry };
  return {
    readable: false,
    reason: `${bytes.length} bytes whose lengths add up neither as Bc0Lc0 nor as dLc0`,
  };
}

function read(bytes: Buffer, format: EntryFormat): Entry | undefined {
  const idStart = format === 'Bc0Lc0' ? 1 : 0;
  const idEnd = format === 'Bc0Lc0' ? 1 + (bytes[0] ?? 0) : ID_BYTES;
  const valueStart = idEnd + LENGTH_BYTES;
  if (bytes.length < valueStart) return undefined;
  if (bytes.readBigUInt64LE(idEnd) !== BigInt(bytes.length - valueStart)) return undefined;
  return { format, id: bytes.subarray(idStart, idEnd), value: bytes.subarray(valueStart) };
}
