import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { customCodec } from '../src/codec/custom-codec.js';
import type { PayloadCodec } from '../src/codec/payload-codec.js';
import { ODD_VALUES } from '../../../test/support/odd-values.js';
import { JavaValue, json as configuredJson } from '../src/index.js';
import { wireCodecs } from './wire-codecs.js';
import { type GoldenBytes, type GoldenCodec, type GoldenInput, readGolden } from './java/golden/golden.js';
import { REDISSON_LINES } from './java/java-build.js';

const { string, buffer, kryo5, json, jackson } = wireCodecs;

/** Our codec for each of Redisson's. */
const BY_GOLDEN = { string, bytes: buffer, kryo5, json, jackson } satisfies Record<GoldenCodec, PayloadCodec>;

/** Null if only a digest was kept. */
function bytesOf(golden: GoldenBytes): Buffer | null {
  if ('text' in golden) return Buffer.from(golden.text);
  return 'hex' in golden ? Buffer.from(golden.hex, 'hex') : null;
}

function matches(bytes: Buffer, golden: GoldenBytes): boolean {
  if ('sha256' in golden) return createHash('sha256').update(bytes).digest('hex') === golden.sha256;
  return bytesOf(golden)?.equals(bytes) ?? false;
}

function valueOf(input: GoldenInput): unknown {
  if ('sample' in input) throw new Error(`${input.sample} is no value`);
  return input.times === undefined ? input.value : String(input.value).repeat(input.times);
}

const named = (input: GoldenInput) => JSON.stringify(input);

describe.each(REDISSON_LINES)('a value written by Redisson %s', (line) => {
  const { payloads } = readGolden(line);
  const texts = (codec: GoldenCodec) =>
    payloads[codec].filter(({ input }) => 'value' in input && typeof input.value === 'string');
  const sample = (codec: GoldenCodec, name: string) => {
    const found = payloads[codec].find(({ input }) => 'sample' in input && input.sample === name);
    return bytesOf(found!.bytes)!;
  };

  it.each<GoldenCodec>(['string', 'kryo5', 'jackson', 'json'])(
    'is read as the original text, which the %s codec writes back as the same bytes',
    (name) => {
      expect(texts(name).length).toBeGreaterThan(15);
      for (const { input, bytes } of texts(name)) {
        const encoded = BY_GOLDEN[name].encode(valueOf(input));
        expect({ input: named(input), same: matches(encoded, bytes) }).toEqual({ input: named(input), same: true });
        const decoded = BY_GOLDEN[name].decode(bytesOf(bytes) ?? encoded);
        expect({ input: named(input), value: decoded }).toEqual({ input: named(input), value: valueOf(input) });
      }
    },
  );

  it.each<GoldenCodec>(['jackson', 'json'])(
    'is read as the original plain value, which the %s codec writes back as the same bytes',
    (name) => {
      const plain = payloads[name].filter(({ input }) => 'value' in input && typeof input.value !== 'string');
      expect(plain.length).toBeGreaterThan(8);
      for (const { input, bytes } of plain) {
        const value = valueOf(input);
        // Integers beyond 32 bits are Longs to Jackson, which arrive as BigInts.
        const read = name === 'jackson' && value === 2147483648 ? 2147483648n : value;
        expect(BY_GOLDEN[name].decode(BY_GOLDEN[name].encode(value))).toEqual(read);
        // Java leaves null out of its maps.
        if (JSON.stringify(value).includes('{"c":null}')) continue;
        expect({ input: named(input), value: BY_GOLDEN[name].decode(bytesOf(bytes)!) }).toEqual({
          input: named(input),
          value: name === 'jackson' && value === 2147483648 ? 2147483648n : value,
        });
        expect({ input: named(input), same: matches(BY_GOLDEN[name].encode(value), bytes) }).toEqual({
          input: named(input),
          same: true,
        });
      }
    },
  );

  it('is read as bytes and written back unchanged', () => {
    expect(buffer.decode(sample('bytes', 'byte[]'))).toEqual(Buffer.of(0, 1, 255));
    expect(buffer.encode(Uint8Array.of(0, 1, 255))).toEqual(sample('bytes', 'byte[]'));
  });

  it('is read as the original value, which the kryo5 codec writes back as the same bytes', () => {
    const others = payloads.kryo5.filter(({ input }) => !texts('kryo5').some((text) => text.input === input));
    expect(others.map(({ input }) => valueOf(input))).toEqual([5, ['a'], { a: 1 }]);
    for (const { input, bytes } of others) {
      expect(kryo5.decode(bytesOf(bytes)!)).toEqual(valueOf(input));
      expect(kryo5.encode(valueOf(input))).toEqual(bytesOf(bytes));
    }
  });

  const UUID = '01234567-89ab-cdef-0123-456789abcdef';
  const date = new Date(1_700_000_000_123);
  const address = (city: string, previous?: object) => ({ '@class': 'peer.Samples$Address', city, ...previous });
  it.each<[name: string, value: unknown]>([
    ['Integer', 5],
    ['Long', 5n],
    ['greatest Long', 2n ** 63n - 1n],
    ['least Long', -(2n ** 63n)],
    ['greatest safe Long', BigInt(Number.MAX_SAFE_INTEGER)],
    ['first unsafe Long', 2n ** 53n],
    ['Short', 5],
    ['Byte', -5],
    ['Float', 1.5],
    ['Double', 0.1],
    ['whole Double', new JavaValue('java.lang.Double', 5)],
    ['great Double', 1e300],
    ['NaN', 'NaN'],
    ['Boolean', true],
    ['Character', 'c'],
    ['BigInteger', 123456789012345678901234567890n],
    ['small BigInteger', new JavaValue('java.math.BigInteger', 10)],
    ['BigDecimal', new JavaValue('java.math.BigDecimal', '12.50')],
    ['long BigDecimal', new JavaValue('java.math.BigDecimal', '0.12345678901234567890')],
    ['AtomicLong', new JavaValue('java.util.concurrent.atomic.AtomicLong', 5)],
    ['Date', date],
    ['Timestamp', new JavaValue('java.sql.Timestamp', date)],
    // Redisson 4.2 and newer write its type.
    ['UUID', line === '4' ? new JavaValue('java.util.UUID', UUID) : UUID],
    ['enum', 'PAID'],
    // Without a class around it, Java writes bytes as text.
    ['byte[]', 'AAH/'],
    ['int[]', [1, 2]],
    ['String[]', ['a', 'b']],
    ['Object[]', ['a', 5n]],
    ['Address[]', [address('Bern')]],
    [
      'map',
      {
        text: 'a',
        int: 5,
        long: 5n,
        date,
        list: ['a', 5n, [1, 2]],
        map: { status: new JavaValue('peer.Samples$Status', 'NEW') },
        bytes: Buffer.of(0, 1, 255),
        ints: [1, 2],
        texts: ['a', 'b'],
        bean: address('Bern'),
      },
    ],
    ['empty map', {}],
    ['sorted map', { a: 1, b: 2 }],
    ['immutable map', { a: 5 }],
    ['map of Longs to Longs', { 7: 5n }],
    ['list', ['a', 5, 5n, null, true, 0.5, [], {}]],
    ['empty list', []],
    ['list that looks like a Long', ['java.lang.Long', 5]],
    ['list that looks like a list', ['java.util.ArrayList', ['a']]],
    ['immutable list', ['a', 'b']],
    ['list of Arrays', ['a', 'b']],
    ['set', ['a', 'b']],
    [
      'bean',
      {
        '@class': 'peer.Samples$Order',
        id: 'o-1',
        paid: true,
        items: 3,
        number: 9007199254740993n,
        boxed: 5,
        weight: 0.5,
        total: '12.50',
        placed: date,
        status: 'PAID',
        address: address('Bern', { previous: address('Oslo') }),
        tags: ['new', 'gift'],
        stops: [address('Kyiv')],
        labels: ['a', 'b'],
        quantities: [1, 2],
        // Declared as byte[], so there is no wrapper.
        seal: 'AAH/',
        counts: { clicks: 5 },
        anything: [5],
      },
    ],
    ['empty bean', { '@class': 'peer.Samples$Order', items: 0, number: 0, paid: false, weight: 0 }],
    ['list of beans', [address('Bern'), address('Kyiv', { previous: address('Oslo') })]],
  ])('is read by the jackson codec without its type wrappers: %s', (name, value) => {
    expect(jackson.decode(sample('jackson', name))).toStrictEqual(value);
  });

  it.each<GoldenCodec>(['json', 'jackson'])('keeps its bytes when it is offered again: codec %s', (name) => {
    // Nothing can be remembered about a number that is the whole payload.
    const codec = name === 'json' ? configuredJson({ numbers: 'exact' }) : jackson;
    for (const { input, bytes } of payloads[name]) {
      const given = bytesOf(bytes);
      if (given === null || given.toString() === 'null') continue;
      const again = codec.encode(codec.decode(given));
      expect({ input: named(input), text: again.toString() }).toEqual({ input: named(input), text: given.toString() });
    }
  });

  it('is read with exact integers by the json codec', () => {
    expect(json.decode(sample('json', 'greatest Long'))).toBe(2n ** 63n - 1n);
    expect(json.decode(sample('json', 'first unsafe Long'))).toBe(2n ** 53n);
    expect(json.decode(sample('json', 'greatest safe Long'))).toBe(Number.MAX_SAFE_INTEGER);
    expect(json.decode(sample('json', 'BigInteger'))).toBe(123456789012345678901234567890n);
    expect(json.decode(sample('json', 'long BigDecimal'))).toBe(0.12345678901234568);
    expect(json.decode(sample('json', 'bean'))).toMatchObject({ number: 9007199254740993n, total: 12.5, boxed: 5 });
  });

  it('is read with __proto__ as an ordinary key', () => {
    for (const codec of ['json', 'jackson'] as const) {
      const value = BY_GOLDEN[codec].decode(sample(codec, 'map of __proto__')) as object;
      expect(Object.entries(value)).toEqual([
        ['__proto__', { polluted: 'yes' }],
        ['constructor', 'c'],
      ]);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect('polluted' in value || 'polluted' in {}).toBe(false);
    }
  });
});

const anyText = fc.string({ unit: 'binary' });

/** Without a null payload, which is refused, and without unsafe integers, which come back as BigInt. */
const plainJson = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => value !== null)
  .map((value) => JSON.stringify(value, (_, part: unknown) => (isUnsafe(part) ? 0 : part)))
  .map((text) => JSON.parse(text) as unknown);

/** Without integers of more than 32 bits, which come back as BigInt. */
function withoutLongs(payload: unknown): unknown {
  const text = JSON.stringify(payload, (_, part: unknown) => (Number.isInteger(part) ? (part as number) | 0 : part));
  return JSON.parse(text) as unknown;
}

function isUnsafe(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

describe('every codec', () => {
  it.each(Object.entries(wireCodecs))('reads back what it writes: %s', (name, codec) => {
    const payloads: Record<string, fc.Arbitrary<unknown>> = {
      string: anyText,
      buffer: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      kryo5: fc.oneof(
        anyText,
        fc.string({ unit: fc.integer({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
      ),
      json: plainJson,
      jackson: plainJson.map(withoutLongs),
    };
    fc.assert(
      fc.property(payloads[name]!, (payload) => {
        expect(codec.decode(codec.encode(payload))).toStrictEqual(payload);
      }),
    );
  });

  it.each(Object.entries(wireCodecs))('reads any bytes or refuses them with a typed error: %s', (_, codec) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          anyText.map((text) => Buffer.from(`[${text}`)),
        ),
        (bytes) => {
          try {
            codec.decode(Buffer.from(bytes));
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
          }
        },
      ),
    );
  });
});

describe('the json and jackson codecs', () => {
  it('write and read integers of any length exactly', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt()), (numbers) => {
        const safe = (n: bigint) => (Number.isSafeInteger(Number(n)) ? Number(n) : n);
        expect(json.decode(json.encode(numbers))).toEqual(numbers.map(safe));
        expect(jackson.decode(jackson.encode(numbers))).toEqual(numbers);
      }),
    );
  });

  it('never read a string as a number, however many digits it has', () => {
    const payload = { '12345678901234567890': '"12345678901234567890', a: '\\12345678901234567890\\' };
    for (const codec of [json, jackson]) {
      expect(codec.decode(codec.encode([payload, 2n ** 64n]))).toEqual([payload, 2n ** 64n]);
    }
  });

  it.each([
    '{12345678901234567890:1}',
    '{"a":012345678901234567890}',
    '[12345678901234567890 "a"]',
    '[1.2345678901234567890.1]',
    '["12345678901234567890',
    '["12345678901234567890\\',
    '[+12345678901234567890]',
    '\ufeff[12345678901234567890]',
  ])('refuse to read %p with an error that does not quote it', (text) => {
    for (const codec of [json, jackson]) {
      expect(() => codec.decode(Buffer.from(text))).toThrow(
        expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.not.stringContaining('123') }),
      );
    }
  });

  it('refuse a long unterminated string in linear time', () => {
    const endless = Buffer.from(`[12345678901234567890,"${'\\"'.repeat(300_000)}`);
    for (const codec of [json, jackson]) {
      const start = performance.now();
      expect(() => codec.decode(endless)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
      // It takes milliseconds; it would take a minute if each quotation mark were tried as a start.
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });

  it('refuse bytes that are not UTF-8 instead of replacing them', () => {
    for (const codec of [json, jackson, string]) {
      expect(() => codec.decode(Buffer.of(0x22, 0xff, 0x22))).toThrow(/not UTF-8/);
    }
  });

  it('refuse to write null, which Java cannot distinguish from an empty queue', () => {
    for (const codec of [json, jackson]) {
      expect(() => codec.encode(null)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
    }
  });

  it('leave out undefined properties and unwrap boxed primitives', () => {
    for (const codec of [json, jackson]) {
      const payload = { a: undefined, o: Object(7) as unknown, s: Object('s') as unknown, b: Object(false) as unknown };
      expect(codec.decode(codec.encode(payload))).toStrictEqual({ o: 7, s: 's', b: false });
    }
  });

  it('keep unpaired surrogates', () => {
    for (const codec of [json, jackson])
      expect(codec.decode(codec.encode(['\ud83d', 'a\udc00']))).toEqual(['\ud83d', 'a\udc00']);
  });
});

describe('the json codec', () => {
  it('refuses bytes, which JSON would turn into a list of numbers', () => {
    expect(() => json.encode(Buffer.of(1))).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
  });

  it('writes a date as a string', () => {
    expect(json.encode(new Date(0)).toString()).toBe('"1970-01-01T00:00:00.000Z"');
  });
});

describe('the jackson codec', () => {
  const written = (payload: unknown) => jackson.encode(payload).toString();

  it.each<[payload: unknown, text: string]>([
    [{ a: 1 }, '{"@class":"java.util.LinkedHashMap","a":1}'],
    [[1, [2]], '["java.util.ArrayList",[1,["java.util.ArrayList",[2]]]]'],
    [['java.lang.Long', 5], '["java.util.ArrayList",["java.lang.Long",5]]'],
    [5n, '["java.lang.Long",5]'],
    [2n ** 63n, '["java.math.BigInteger",9223372036854775808]'],
    [-(2n ** 63n), '["java.lang.Long",-9223372036854775808]'],
    [-2147483648, '-2147483648'],
    [2147483648, '["java.lang.Long",2147483648]'],
    [1e21, '1.0E21'],
    [0.00001, '1.0E-5'],
    [12345678.5, '1.23456785E7'],
    [new Date(5), '["java.util.Date",5]'],
    [{ at: new Date(5) }, '{"@class":"java.util.LinkedHashMap","at":["java.util.Date",5]}'],
    [{ toJSON: () => new Date(5) }, '["java.util.Date",5]'],
    [[Object(5n)], '["java.util.ArrayList",[["java.lang.Long",5]]]'],
    [Buffer.of(0, 1, 255), '["[B","AAH/"]'],
    [{ toJSON: () => [1] }, '["java.util.ArrayList",[1]]'],
    ['\u001f😀\\u001f', '"\\u001F\\uD83D\\uDE00\\\\u001f"'],
  ])('writes %p as %s', (payload, text) => {
    expect(written(payload)).toBe(text);
  });

  it('reads dates of any year', () => {
    const dates = [new Date(8.64e15), new Date(-8.64e15), new Date(1e15), new Date(0)];
    expect(jackson.decode(jackson.encode(dates))).toStrictEqual(dates);
  });

  it('refuses an @class that is not a valid name', () => {
    expect(() => written({ '@class': 7 })).toThrow(
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        message: expect.stringContaining('@class must be a class name, not number'),
      }),
    );
  });

  it.each([
    [['com.shop.Order', 'b', 'c']],
    [['example.com', 'b']],
    [['Order', 'b']],
    [['a', 'com.shop.Order']],
    [[5, 'b']],
  ])('reads %j in a field as an array, not as a typed value', (array) => {
    expect(jackson.decode(Buffer.from(JSON.stringify({ '@class': 'shop.Order', array })))).toMatchObject({ array });
  });

  it('reads an object with its properties in order, and keeps any @class that is not a string', () => {
    const text = '{"b":1,"@class":"shop.Order","a":{"@class":5}}';
    expect(JSON.stringify(jackson.decode(Buffer.from(text)))).toBe(text);
  });
});

describe('the string codec', () => {
  it.each([5, null, undefined, Buffer.of(1), '\ud800', 'a\udc00'])('refuses %p', (payload) => {
    expect(() => string.encode(payload)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
  });

  it('keeps a byte order mark', () => {
    expect(string.decode(Buffer.from('\ufeffa'))).toBe('\ufeffa');
  });
});

describe('the buffer codec', () => {
  it.each(['text', null, [1]])('refuses %p', (payload) => {
    expect(() => buffer.encode(payload)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
  });

  it('writes only the part of a larger buffer that a view covers', () => {
    expect(buffer.encode(Uint8Array.of(0, 1, 2, 3).subarray(1, 3))).toEqual(Buffer.of(1, 2));
  });
});

describe('the kryo5 codec', () => {
  it.each([null, undefined, Symbol('a'), [undefined], new Map()])('refuses %p', (payload) => {
    expect(() => kryo5.encode(payload)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
  });

  it.each([
    ['an empty value', ''],
    ['a class without a value', '03'],
    ['null', '0380'],
    ['an end mark before the end', '036180e1'],
    ['no end mark', '036162'],
    ['more bytes than the length states', '03826161'],
    ['fewer bytes than the length states', '038361'],
    ['half a character', '0382c3'],
    ['a two-byte character whose second byte is invalid', '0382c341'],
    ['a three-byte character whose third byte is invalid', '0382e28241'],
    ['a four-byte character', '0383f09f9880'],
    ['an unterminated length', '03ffffffffffff'],
    ['a length encoding longer than Java’s', '03c2808080808000' + '61'],
    ['a length beyond the end of the bytes', '03ffffffff0f61'],
  ])('refuses to read %s', (_, hex) => {
    expect(() => kryo5.decode(Buffer.from(hex, 'hex'))).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
  });
});

describe('a custom codec', () => {
  const own = customCodec({
    encode: (payload) => Buffer.from(`<${String(payload)}>`),
    decode: (bytes) => bytes.length,
  });

  it('is used as is', () => {
    expect(own.encode('a')).toEqual(Buffer.from('<a>'));
    expect(own.decode(Buffer.from('<a>'))).toBe(3);
  });

  it('fails with a typed error that has the original error as its cause', () => {
    const problem = new Error('not today');
    const fail = () => {
      throw problem;
    };
    const failing = customCodec({ encode: fail, decode: fail });
    for (const use of [() => failing.encode('a'), () => failing.decode(Buffer.of(1))]) {
      expect(use).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD', cause: problem }));
    }
  });

  it('may reuse its buffer without changing what it has encoded', () => {
    const memory = Buffer.alloc(1);
    const thrifty = customCodec({ encode: (payload) => (memory.write(String(payload)), memory), decode: String });
    expect([thrifty.encode('a'), thrifty.encode('b')].join('')).toBe('ab');
    const bytes = Buffer.of(1);
    const offered = buffer.encode(bytes);
    bytes[0] = 2;
    expect(offered).toEqual(Buffer.of(1));
  });

  it("fails if it returns a promise, and that promise's rejection does not end the process", async () => {
    // eslint-disable-next-line @typescript-eslint/require-await -- an async codec is the mistake under test
    const fail = async (): Promise<never> => {
      throw new Error('late');
    };
    const promising = customCodec({ encode: fail as never, decode: fail });
    expect(() => promising.encode('a')).toThrow(/must encode to a Buffer, not a promise/);
    expect(() => promising.decode(Buffer.of(1))).toThrow(/decodes to a promise/);
    // An unhandled rejection would fail this test.
    await new Promise(setImmediate);
  });

  it.each(Object.entries(ODD_VALUES))('fails with typed errors when it throws or encodes to %s', (_, make) => {
    const fail = (): never => {
      throw make();
    };
    const failing = customCodec({ encode: fail, decode: fail });
    const odd = customCodec({ encode: make as () => Buffer, decode: make });
    for (const use of [() => failing.encode('a'), () => failing.decode(Buffer.of(1)), () => odd.encode('a')]) {
      expect(use).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
    }
  });

  it('must encode to bytes', () => {
    const textual = customCodec({ encode: () => 'a' as unknown as Buffer, decode: () => 1 });
    expect(() => textual.encode('a')).toThrow(/must encode to a Buffer, not string/);
  });
});
