import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type JavaClasses, JavaValue, kryo5 } from '../src/index.js';

const classes = {
  'com.shop.Order': {
    id: 'String',
    count: 'int',
    amount: 'Long',
    price: 'BigDecimal',
    placedAt: 'Date',
    status: 'com.shop.Status',
    channel: 'com.shop.Channel',
    items: 'List<com.shop.Item>',
    money: 'com.shop.Money',
    labels: 'Map<String, Long>',
    tags: 'Set<String>',
    anything: 'Object',
    number: 'Number',
    seal: 'byte[]',
    sizes: 'int[]',
    zone: 'ZoneId',
    shippedAt: 'Calendar',
    sorted: 'TreeSet<Object>',
    deque: 'ArrayDeque<String>',
    node: 'com.shop.Node',
    payment: 'com.shop.Payment',
  },
  'com.shop.Item': { sku: 'String' },
  'com.shop.SpecialItem': { sku: 'String', discount: 'double' },
  'com.shop.Node': { next: 'com.shop.Node' },
  'com.shop.Payment': {},
  'record com.shop.Money': { cents: 'long' },
  'final com.shop.Status': ['NEW', 'PAID'],
  'com.shop.Channel': ['WEB', 'SHOP'],
} satisfies JavaClasses;

const codec = kryo5({ classes });

/** An order with some fields, to Java and back. */
function again(fields: object): Record<string, unknown> {
  return codec.decode(codec.encode({ '@class': 'com.shop.Order', count: 1, ...fields })) as Record<string, unknown>;
}

function refusal(fields: object): string {
  const error = failure(() => again(fields));
  expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
  return error.message;
}

function failure(use: () => unknown): Error {
  try {
    use();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

const money = { '@class': 'com.shop.Money', cents: 5 };

describe('the kryo5 codec with classes', () => {
  it.each<[field: string, value: unknown, read?: unknown]>([
    ['id', 'a'],
    ['id', null],
    ['id', undefined, null],
    ['count', 5n, 5],
    ['count', '-5', -5],
    ['amount', 5],
    ['amount', 2n ** 63n - 1n],
    ['amount', '9007199254740993', 9007199254740993n],
    ['price', 12.5],
    ['price', '12.50'],
    ['price', 12n, 12],
    ['price', '1E+3'],
    ['price', '+1.5e2', '1.5E+2'],
    ['price', { toJSON: () => '0.10' }, '0.10'],
    ['placedAt', new Date(-5)],
    ['status', 'PAID'],
    ['items', [{ '@class': 'com.shop.Item', sku: 'a' }]],
    ['items', [{ '@class': 'com.shop.SpecialItem', sku: 'a', discount: 0.5 }, null]],
    ['money', money],
    ['money', { cents: 5 }, money],
    ['labels', { a: 5, b: null }],
    ['labels', { a: 5n }, { a: 5 }],
    ['labels', { a: new JavaValue('java.lang.Long', 5) }, { a: 5 }],
    ['tags', ['b', 'a']],
    ['anything', money],
    [
      'anything',
      [1, 2 ** 31, 2.5, 5n, 'a', true, null, [], {}, Buffer.of(1)],
      [1, 2n ** 31n, 2.5, 5n, 'a', true, null, [], {}, Buffer.of(1)],
    ],
    ['anything', new JavaValue('java.util.UUID', '01234567-89ab-cdef-0123-456789abcdef')],
    ['anything', new JavaValue('java.lang.Float', 1.1)],
    ['anything', new JavaValue('com.shop.Status', 'NEW')],
    ['number', 5],
    ['number', new JavaValue('java.math.BigDecimal', '1.50')],
    ['seal', Uint8Array.of(0, 255), Buffer.of(0, 255)],
    ['sizes', [1, -2]],
    ['zone', 'Europe/Zurich'],
    ['zone', '+02:00'],
    ['deque', ['a']],
    ['sorted', ['a', 'b']],
    ['payment', { '@class': 'com.shop.Item', sku: 'a' }],
    ['channel', new JavaValue('com.shop.Channel$1', 'WEB'), 'WEB'],
  ])('writes every form of a value without loss: %s %p', (field, value, read = value) => {
    expect(again({ [field]: value })[field]).toStrictEqual(read);
  });

  it.each<[fields: object, message: string]>([
    [{ id: 5 }, 'payload.id: a String takes text'],
    [{ count: null }, 'payload.count: the field count of type int needs a value'],
    [{ count: 2 ** 31 }, 'payload.count: an int is within -2147483648 and 2147483647'],
    [{ count: 1.5 }, 'payload.count: an int takes an integer'],
    [{ amount: 2n ** 63n }, 'payload.amount: a Long has 64 bits'],
    [{ amount: 2 ** 53 }, 'payload.amount: a Long takes an integer: a safe number, a BigInt or text with digits only'],
    [{ price: 'twelve' }, 'payload.price: a BigDecimal takes a number, a BigInt, or text such as 12.50'],
    [{ price: NaN }, 'payload.price: a BigDecimal takes a number'],
    [{ placedAt: 5 }, 'payload.placedAt: a Date takes a valid Date'],
    [{ placedAt: new Date(NaN) }, 'payload.placedAt: a Date takes a valid Date'],
    [{ status: 'LOST' }, 'payload.status: the value is not a declared constant of com.shop.Status'],
    [
      { channel: 'WEB' },
      'payload.channel: com.shop.Channel has constants with bodies, whose classes a text does not show',
    ],
    [{ items: {} }, 'payload.items: a java.util.ArrayList takes an array'],
    [
      { items: [{ sku: 'a' }] },
      "payload.items[0]: a java.util.LinkedHashMap does not fit where the declared type is com.shop.Item; give it the '@class'",
    ],
    [{ items: [money] }, 'payload.items[0]: a com.shop.Money does not fit where the declared type is com.shop.Item'],
    [{ items: [{ '@class': 'com.shop.Lost' }] }, 'payload.items[0]: a com.shop.Lost does not fit'],
    [
      { anything: { '@class': 'com.shop.Lost' } },
      'payload.anything: class com.shop.Lost is not declared; add it to kryo5({ classes })',
    ],
    [{ anything: { '@class': 5 } }, "payload.anything: its '@class' must be a class name"],
    [
      { anything: /(?<a>x)/.exec('x') },
      "payload.anything: the field 'index' of a list cannot be written; offer [...list]",
    ],
    [{ anything: new Map() }, 'payload.anything: a Map cannot be written; offer Object.fromEntries(map)'],
    [{ anything: [undefined] }, 'payload.anything[0]: undefined cannot be written'],
    [{ anything: () => 1 }, 'payload.anything: a function cannot be written'],
    [
      { anything: new JavaValue('java.util.EnumMap', {}) },
      'payload.anything: this codec does not support the class java.util.EnumMap',
    ],
    [
      { anything: new JavaValue('java.lang.Float', 0.123456789) },
      'payload.anything: a float has 7 digits; the number has more',
    ],
    [{ number: 'a' }, 'payload.number: a java.lang.String does not fit where the declared type is java.lang.Number'],
    [{ money: { cents: 5, euros: 1 } }, "payload.money: the class com.shop.Money is declared without a field 'euros'"],
    [
      { money: new JavaValue('com.shop.Item', {}) },
      'payload.money: a com.shop.Item does not fit where the declared type is com.shop.Money',
    ],
    [
      { money: { '@class': 'com.shop.Item', sku: 'a' } },
      'payload.money: a com.shop.Item does not fit where the declared type is com.shop.Money',
    ],
    [{ shippedAt: new Date(5) }, 'payload.shippedAt: a Calendar can only be offered as it was received'],
    [{ zone: 'Europe/Atlantis' }, 'payload.zone: the text is not the id of a time zone'],
    [{ sorted: ['a', 1] }, 'payload.sorted: a sorted collection takes values of one class that Java can compare'],
    [{ deque: [null] }, 'payload.deque: a java.util.ArrayDeque cannot contain null'],
    [{ lost: 1 }, "payload: the class com.shop.Order is declared without a field 'lost'"],
  ])('refuses a value that it cannot write exactly, and says where it is: %p', (fields, message) => {
    expect(refusal(fields)).toContain(message);
  });

  it('refuses an object that contains itself', () => {
    const node: { '@class': string; next?: unknown } = { '@class': 'com.shop.Node' };
    node.next = node;
    expect(refusal({ node })).toContain('it is nested deeper than 500 levels, or contains itself');
  });

  it('refuses a payload whose own code throws, and reports that error as the cause', () => {
    const problem = new Error('not today');
    const payload = {
      get a(): never {
        throw problem;
      },
    };
    expect(() => codec.encode(payload)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD', cause: problem }));
  });

  it('keeps the classes of a received payload, and writes a copy with the default classes', () => {
    const list = codec.decode(Buffer.from('01006a6176612e7574696c2e4c696e6b65644c6973f482090002', 'hex')) as unknown[];
    expect(codec.encode(list).includes('java.util.LinkedLis')).toBe(true);
    expect(codec.encode([...list]).includes('java.util.ArrayLis')).toBe(true);
  });

  it('writes a map or a collection as the class that the value names', () => {
    const map = codec.encode({ '@class': 'java.util.TreeMap', b: 1 });
    expect(map.includes('java.util.TreeMa')).toBe(true);
    expect(codec.decode(map)).toEqual({ b: 1 });
    const set = codec.encode(new JavaValue('java.util.HashSet', ['a']));
    expect(set.includes('java.util.HashSe')).toBe(true);
    expect(codec.decode(set)).toEqual(['a']);
  });

  it('refuses a duplicate in an immutable set', () => {
    const hex = '01006a6176612e7574696c2e496d6d757461626c65436f6c6c656374696f6e73245365743132'.replace(/32$/, 'b2');
    const set = codec.decode(Buffer.from(`${hex}82020a`, 'hex')) as number[];
    expect(set).toEqual([5]);
    set.push(5);
    expect(() => codec.encode(set)).toThrow(/an immutable set cannot contain a value twice/);
  });

  it('writes a whole number as a Double if it replaces a received Double', () => {
    const received = codec.decode(codec.encode([new JavaValue('java.lang.Double', 5)])) as number[];
    expect(received).toEqual([5]);
    received[0] = 6;
    expect(codec.encode(received)).toEqual(codec.encode([new JavaValue('java.lang.Double', 6)]));
    expect(codec.encode([...received])).toEqual(codec.encode([new JavaValue('java.lang.Integer', 6)]));
  });

  it.each<[classes: unknown, message: string]>([
    [{ 'a.B': { c: 'List' } }, "classes: a.B.c: Kryo's bytes depend on the type arguments of java.util.List"],
    [
      { 'a.B': { c: 'Map<String, List>' } },
      "classes: a.B.c: Kryo's bytes depend on the type arguments of java.util.List",
    ],
    [
      { 'a.B': { c: 'a.C<String>' }, 'a.C': {} },
      'classes: a.B.c: a.C with a final class as its type argument cannot be read',
    ],
    [{ 'a.B': { c: 'OptionalInt' } }, 'classes: a.B.c: this codec does not support the class java.util.OptionalInt'],
    [{ 'a.B': { c: 'Lost' } }, "classes['a.B'].c: 'Lost': Lost is not a known type"],
  ])('refuses a class declaration from which the bytes cannot be determined: %j', (declared, message) => {
    expect(() => kryo5({ classes: declared as JavaClasses })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });

  it('refuses an unknown option', () => {
    expect(() => kryo5({ clases: {} } as object)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: "kryo5: there is no option 'clases'" }),
    );
  });
});

describe('bytes for the kryo5 codec', () => {
  /** In hex, with texts in quotation marks as Kryo writes class names. */
  function bytesOf(text: string): Buffer {
    const parts = text.split("'").map((part, i) => {
      if (i % 2 === 0) return Buffer.from(part.replace(/ /g, ''), 'hex');
      const name = Buffer.from(part);
      name[name.length - 1]! |= 0x80;
      return name;
    });
    return Buffer.concat(parts);
  }

  it.each([
    ["01 00 'com.shop.Lost'", 'class com.shop.Lost is not declared; add it to kryo5({ classes })'],
    ["01 00 'java.util.EnumMap'", 'this codec does not support the class java.util.EnumMap'],
    ["01 00 'java.lang.Class'", 'this codec does not support the class java.lang.Class'],
    ['0b 00', 'class number 11 is registered in Java only; use a Kryo5Codec without registered classes'],
    ["01 00 'com.shop.Status' 03", 'constant 3 of com.shop.Status is not declared; list all of its constants'],
    ["01 00 'java.util.HashMap' 02 00 00", 'a map with a null key has no form in JavaScript'],
    ["01 00 'java.util.HashMap' 03 02 0a 00 09 0a 00", 'a map has two keys that are the same in JavaScript'],
    [
      "01 00 'java.util.HashMap' 02 0a 00 00 00 00 00 00 00 00 00",
      'a map with keys of java.lang.Double has no form in JavaScript',
    ],
    [
      "01 00 'java.util.TreeSet' 82 01 01 'com.shop.Node'",
      'a sorted collection with its own comparator cannot be read',
    ],
    ["01 00 'com.shop.Node' 03 8261", 'there is a java.lang.String where the declared type is com.shop.Node'],
    ["01 00 'java.util.Date' ff ff ff ff ff ff ff ff 7f", 'a date is out of the range of JavaScript'],
    ["01 00 'java.time.Instant' ff ff ff ff ff ff ff 7f 00", 'an Instant is beyond the year 9999'],
  ])('are refused with the reason if they cannot be represented in JavaScript: %s', (text, reason) => {
    const bytes = bytesOf(text);
    expect(() => codec.decode(bytes)).toThrow(
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        message: `payload: its ${bytes.length} bytes cannot be read: ${reason}`,
      }),
    );
  });

  it.each([
    ['an unknown reference to a class', '01 05'],
    ['a malformed name', "01 00 'com shop'"],
    ['an unterminated name', `01 00 '${'a'.repeat(600)}'`],
    ['an array of an unknown type', "01 00 '[X'"],
    ['a boolean that is neither true nor false', '05 02'],
    ['an int of six bytes', '02 ff ff ff ff ff 00'],
    ['a list longer than the bytes', "01 00 'java.util.ArrayList' ff ff ff ff 0f"],
    ['an array longer than the bytes', "01 00 '[Ljava.lang.Object;' ff ff ff ff 07"],
    ['a negative length', "01 00 '[I' ff ff ff ff 0f"],
    ['bytes shorter than their length', "01 00 '[B' ff ff ff ff 07"],
    ['a date that does not exist', "01 00 'java.time.LocalDate' e8 0f 02 1f"],
    ['null after a class', "01 00 'java.util.ArrayList' 00"],
    ['extra bytes after the value', '02 0a 00'],
    ['nothing', ''],
  ])('are refused if Kryo would never write them: %s', (_, text) => {
    expect(failure(() => codec.decode(bytesOf(text))).cause).toBeUndefined();
    expect(() => codec.decode(bytesOf(text))).toThrow(
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        message: expect.stringMatching(/were not written by a kryo5 codec/),
      }),
    );
  });

  it('cannot make the codec allocate more memory than their length warrants', () => {
    // A list of 60,000 lists, each of which says that it contains 60,000 objects without fields.
    const inner = bytesOf('c0 a9 07');
    const bytes = Buffer.concat([
      bytesOf("01 00 'java.util.ArrayList' e1 a9 07 01 00 00"),
      ...Array.from({ length: 60_000 }, (_, i) =>
        Buffer.concat([inner, bytesOf(i === 0 ? "01 01 'com.shop.Payment'" : '01 01'), Buffer.of(0)]),
      ),
    ]);
    expect(() => codec.decode(bytes)).toThrow(/a collection is longer than the bytes/);
  });

  it('cannot overflow the stack', () => {
    const deep = Buffer.concat([
      bytesOf("01 00 'java.util.ArrayList'"),
      ...Array.from({ length: 100_000 }, () => Buffer.of(0x82, 1, 0, 0)),
    ]);
    expect(() => codec.decode(deep)).toThrow(/nested deeper than 500 levels/);
  });

  it('are either read or refused with a typed error, whatever they are', () => {
    const names = [
      'java.util.ArrayList',
      'java.util.HashMap',
      'com.shop.Order',
      '[I',
      'java.math.BigDecimal',
      'java.time.Instant',
    ];
    const start = fc.constantFrom(...names).map((name) => bytesOf(`01 00 '${name}'`));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), (first, rest) => {
        try {
          codec.decode(Buffer.concat([first, rest]));
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
          expect((error as Error).cause).toBeUndefined();
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('stay the same when any payload without classes is read and written again', () => {
    const free = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.double(),
        fc.boolean(),
        fc.bigInt(),
        fc.date({ noInvalidDate: true }),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        fc.array(tie('value')),
        fc.dictionary(
          fc.string().filter((key) => key !== '@class'),
          fc.oneof(fc.constant(null), tie('value')),
        ),
      ),
    })).value;
    fc.assert(
      fc.property(free, (payload) => {
        const bytes = codec.encode(payload);
        expect(codec.encode(codec.decode(bytes))).toEqual(bytes);
      }),
    );
  });
});

describe('a hostile text', () => {
  const codec = kryo5({ classes: { 'x.Trip': { place: 'Locale', departure: 'OffsetTime' } } });
  const LONG = 100_000;

  it('that is long takes no longer than others: a Locale of underscores that is read', () => {
    const placeholder = Buffer.from(
      codec.encode({ '@class': 'x.Trip', place: `de_CH_${'A'.repeat(LONG)}x`, departure: null }),
    );
    const from = performance.now();
    const bytes = Buffer.from(placeholder.map((byte) => (byte === 0x41 ? 0x5f : byte)));
    expect(codec.decode(bytes)).toMatchObject({ place: `de_CH_${'_'.repeat(LONG)}x` });
    expect(performance.now() - from).toBeLessThan(2000);
  });

  it('that is long takes no longer than others: a time of digits that is written', () => {
    const from = performance.now();
    const write = () => codec.encode({ '@class': 'x.Trip', place: null, departure: `${'1'.repeat(LONG)}\n` });
    expect(write).toThrow(/OffsetTime/);
    expect(performance.now() - from).toBeLessThan(2000);
  });
});
