import { describe, expect, it } from '@jest/globals';
import { copyOf } from './java/fixture-codecs.js';
import { readGoldenKryoFixtures } from './java/golden/golden.js';
import { KRYO_FIXTURE_CLASSES } from './java/kryo-fixture-classes.js';
import { kryo5 } from '../src/index.js';

const declared = kryo5({ classes: KRYO_FIXTURE_CLASSES });
const undeclared = kryo5();

const golden = readGoldenKryoFixtures().flatMap(({ fixture, lines, hex }) =>
  hex === null ? [] : [{ fixture, lines, hex }],
);
/** Fixtures whose bytes contain data in Java's own serialization. */
const UNREADABLE = ['rarities'];
const readable = golden.filter(({ fixture }) => !UNREADABLE.includes(fixture));
const ofClasses = readable.filter(({ hex }) => Buffer.from(hex, 'hex').includes('peer.'));

describe('a payload written by Java with Kryo', () => {
  it('has the same bytes in all versions of Redisson that can write it', () => {
    expect(new Set(golden.map(({ fixture }) => fixture)).size).toBe(golden.length);
    expect(golden.filter(({ lines }) => lines.length >= 4).length).toBe(golden.length - 1);
  });

  it.each(readable)('keeps its bytes when it is offered again: $fixture', ({ hex }) => {
    expect(declared.encode(declared.decode(Buffer.from(hex, 'hex'))).toString('hex')).toBe(hex);
  });

  it.each(golden.filter(({ fixture }) => UNREADABLE.includes(fixture)))(
    'is refused because of its class: $fixture',
    ({ hex }) => {
      expect(() => declared.decode(Buffer.from(hex, 'hex'))).toThrow(
        expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('java.util.EnumMap') }),
      );
    },
  );

  it.each(ofClasses)('is refused if its class is not declared: $fixture', ({ hex }) => {
    expect(() => undeclared.decode(Buffer.from(hex, 'hex'))).toThrow(
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        message: expect.stringMatching(/class peer\.\S+ is not declared; add it to kryo5\(\{ classes \}\)$/),
      }),
    );
  });

  it.each(readable.filter((each) => !ofClasses.includes(each)))(
    'needs no declaration if it contains no classes: $fixture',
    ({ hex }) => {
      expect(undeclared.encode(undeclared.decode(Buffer.from(hex, 'hex'))).toString('hex')).toBe(hex);
    },
  );

  it.each(['order', 'primitives', 'boxes', 'texts', 'final class', 'record', 'kryo: times'])(
    'keeps its bytes when a copy is offered: %s',
    (name) => {
      const hex = golden.find(({ fixture }) => fixture === name)!.hex;
      expect(declared.encode(copyOf(declared.decode(Buffer.from(hex, 'hex')))).toString('hex')).toBe(hex);
    },
  );

  it.each(ofClasses)(
    'is refused or read as another value, without crashing the reader, if a byte is missing: $fixture',
    ({ hex }) => {
      const bytes = Buffer.from(hex, 'hex');
      for (let at = 0; at < bytes.length; at++) {
        for (const broken of [bytes.subarray(0, at), Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])]) {
          try {
            declared.decode(broken);
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
            expect((error as Error).cause).toBeUndefined();
          }
        }
      }
    },
  );
});

describe('a payload from Java', () => {
  const shown = (name: string) =>
    declared.decode(Buffer.from(golden.find(({ fixture }) => fixture === name)!.hex, 'hex'));

  it('has plain values in the fields of declared classes', () => {
    expect(shown('order')).toEqual({
      '@class': 'peer.Fixtures$OrderTimeout',
      orderId: 'o-1',
      amount: 5,
      price: '12.50',
      placedAt: new Date(1_700_000_000_123),
      status: 'PAID',
      items: ['a', 'b'].map((sku) => ({ '@class': 'peer.Fixtures$Item', sku, quantity: 2, price: '12.50', weight: 5 })),
      address: {
        '@class': 'peer.Fixtures$Address',
        city: 'Bern',
        previous: { '@class': 'peer.Fixtures$Address', city: 'Oslo', previous: null },
      },
      tags: ['new'],
      count: 2,
    });
    expect(shown('primitives')).toMatchObject({ number: 9007199254740993n, small: 5, ratio: 1.1, grade: 'ä' });
    expect(shown('kryo: times')).toMatchObject({
      instant: '2023-11-14T22:13:20.123456789Z',
      duration: 'PT-1H-2M-4.5S',
      zoned: '2024-02-29T07:30[Europe/Zurich]',
      year: 2024,
      unit: 'SECONDS',
    });
  });

  it('has plain elements and values if the field declares their types', () => {
    expect(shown('collections')).toMatchObject({ numbers: [5, 9007199254740993n], nested: [[1], []] });
    expect(shown('maps')).toMatchObject({ numbers: { 7: 5 } });
    expect(shown('enums')).toMatchObject({ history: ['NEW', 'PAID'], channels: ['WEB'] });
    expect(shown('kryo: baskets')).toMatchObject({ basket: { counts: { b: 1 } } });
  });

  it('has typed values everywhere else', () => {
    expect(shown('objects')).toMatchObject({
      number: 5n,
      count: 7,
      ratio: 5,
      price: { type: 'java.math.BigDecimal', value: '12.50' },
      status: { type: 'peer.Fixtures$Status', value: 'NEW' },
    });
    expect(shown('kryo: odds')).toMatchObject({
      anyGreatBigInteger: 2n ** 80n,
      anyFloat: { type: 'java.lang.Float', value: 1.1 },
    });
  });

  it('has __proto__ as an ordinary key', () => {
    const { odd } = shown('kryo: containers') as { odd: object };
    expect(Object.entries(odd)).toEqual([
      ['__proto__', 'p'],
      ['@class', 'com.shop.Order'],
      ['constructor', 1],
    ]);
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
  });
});
