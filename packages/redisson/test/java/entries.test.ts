import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { sharedRedisUrl } from '../../../../test/support/redis/shared-redis.js';
import type { EntryFormat } from '../../src/index.js';
import { decodeEntry, encodeEntry, type Entry } from './entry.codec.js';
import { type GoldenOffer, readGolden } from './golden/golden.js';
import { REDISSON_LINES } from './java-build.js';

const FORMATS: readonly EntryFormat[] = ['Bc0Lc0', 'dLc0'];
const OFFERS = REDISSON_LINES.flatMap((line) =>
  readGolden(line).offers.map((offer): [EntryFormat, string, GoldenOffer] => [
    line === '4' ? 'Bc0Lc0' : 'dLc0',
    offer.codec,
    offer,
  ]),
);

const eightBytes = fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes));
const value = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const entry: fc.Arbitrary<Entry> = fc.record({ format: fc.constantFrom(...FORMATS), id: eightBytes, value });

/** Bytes that are almost entries: damaged, truncated, or with wrong lengths. */
const nearlyEntry = fc.oneof(
  entry.map(encodeEntry),
  fc
    .tuple(entry.map(encodeEntry), fc.nat(), fc.integer({ min: 0, max: 255 }))
    .map(([bytes, at, byte]) => bytes.fill(byte, at % bytes.length, (at % bytes.length) + 1)),
  fc.tuple(entry.map(encodeEntry), fc.nat()).map(([bytes, length]) => bytes.subarray(0, length % (bytes.length + 1))),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.integer({ min: 0, max: 24 }), fc.integer({ min: 0, max: 40 })).map(([idBytes, valueBytes]) => {
    const length = Buffer.alloc(8);
    length.writeUInt8(valueBytes);
    return Buffer.concat([Buffer.of(idBytes), Buffer.alloc(idBytes), length, Buffer.alloc(valueBytes)]);
  }),
);

/** The value that a reader finds in bytes, as hex, or null if they are not an entry. */
type Reading = string | null;

describe('Redisson entries', () => {
  let redis: Redis;
  const code = readFileSync(new URL('../../src/lua/modules/entry.lua', import.meta.url), 'utf8');
  const names = {
    find: 'string.find',
    match: 'string.match',
    sub: 'string.sub',
    byte: 'string.byte',
    pack: 'struct.pack',
  };
  const values = { ...names, unpack_bytes: 'struct.unpack', format: 'string.format' };
  const lua = `local ${Object.keys(values).join(', ')} = ${Object.values(values).join(', ')}\nlocal Entry = {}\n${code}`;

  beforeAll(() => {
    redis = new Redis(sharedRedisUrl());
  });

  afterAll(async () => {
    await redis.quit();
  });

  async function readInLua(bytes: Buffer): Promise<Reading> {
    const script = `${lua}\nreturn Entry.value(ARGV[1]) or false`;
    return ((await redis.callBuffer('EVAL', script, 0, bytes)) as Buffer | null)?.toString('hex') ?? null;
  }

  async function writeInLua(format: EntryFormat, sequence: number, payload: Buffer): Promise<Buffer> {
    const script = `${lua}\nreturn Entry.pack(ARGV[1], tonumber(ARGV[2]), ARGV[3])`;
    return (await redis.callBuffer('EVAL', script, 0, format, sequence, payload)) as Buffer;
  }

  function read(bytes: Buffer): Reading {
    const decoded = decodeEntry(bytes);
    return decoded.readable ? decoded.value.toString('hex') : null;
  }

  it.each(OFFERS)('written by Java are read and rewritten byte for byte: %s, codec %s', async (format, _, offer) => {
    const bytes = Buffer.from(offer.entry, 'hex');
    const decoded = decodeEntry(bytes);
    expect(decoded).toMatchObject({ readable: true, format, value: Buffer.from(offer.target, 'hex') });
    expect(encodeEntry(decoded as Entry)).toEqual(bytes);
    expect(await readInLua(bytes)).toBe(offer.target);
    expect(offer.listed).toBe(offer.entry);
    expect(offer.published).toBe(offer.score);
  });

  it('have an eight-byte id, with its length written only in the new format', () => {
    const id = Buffer.from('ABCDEFGH');
    const hello = Buffer.from('hello');
    const hex = (format: EntryFormat) => encodeEntry({ format, id, value: hello }).toString('hex');
    expect(hex('Bc0Lc0')).toBe('084142434445464748050000000000000068656c6c6f');
    expect(hex('dLc0')).toBe('4142434445464748050000000000000068656c6c6f');
    expect(() => encodeEntry({ format: 'dLc0', id: Buffer.alloc(7), value: hello })).toThrow(RangeError);
  });

  it('are read back as they were written, in either format', () => {
    fc.assert(
      fc.property(entry, (given) => {
        const bytes = encodeEntry(given);
        // A new entry without a value fits both formats.
        fc.pre(given.format === 'Bc0Lc0' || !bytes.equals(asNewWithoutValue(bytes)));
        expect(decodeEntry(bytes)).toEqual({ readable: true, ...given });
      }),
    );
  });

  it('are read in the new format if their id has eight bytes there, or if the old format does not fit', () => {
    const newWithoutValue = Buffer.from('08000000000000000100' + '00'.repeat(7), 'hex');
    expect(decodeEntry(newWithoutValue)).toMatchObject({ format: 'Bc0Lc0', value: Buffer.alloc(0) });
    const oldBeginningWith7 = encodeEntry({ format: 'dLc0', id: Buffer.alloc(8, 7), value: Buffer.from('hello') });
    expect(decodeEntry(oldBeginningWith7)).toMatchObject({ format: 'dLc0', value: Buffer.from('hello') });
    const longId = Buffer.concat([Buffer.of(10), Buffer.alloc(10, 1), Buffer.from('0100000000000000ff', 'hex')]);
    expect(decodeEntry(longId)).toMatchObject({ format: 'Bc0Lc0', id: Buffer.alloc(10, 1), value: Buffer.of(255) });
  });

  it('are recognized among other bytes, and no bytes cause an exception', () => {
    fc.assert(
      fc.property(nearlyEntry, (bytes) => {
        const decoded = decodeEntry(bytes);
        expect(decoded.readable ? decoded.value.length < bytes.length : decoded.reason.length > 0).toBe(true);
      }),
    );
    for (const length of [0, 1, 8, 15, 16, 17, 100]) {
      expect(decodeEntry(Buffer.alloc(length, 0xff))).toMatchObject({ readable: false });
    }
  });

  it('are read the same way by the scripts, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(nearlyEntry, async (bytes) => {
        expect(await readInLua(bytes)).toBe(read(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it.each(FORMATS)(
    'are written the same way by the scripts, with the sequence number as the id: %s',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(fc.maxSafeNat(), value, async (sequence, payload) => {
          const id = Buffer.alloc(8);
          id.writeBigUInt64BE(BigInt(sequence));
          expect(await writeInLua(format, sequence, payload)).toEqual(encodeEntry({ format, id, value: payload }));
        }),
      );
    },
  );
});

function asNewWithoutValue(bytes: Buffer): Buffer {
  return encodeEntry({ format: 'Bc0Lc0', id: bytes.subarray(1, 9), value: Buffer.alloc(0) });
}
