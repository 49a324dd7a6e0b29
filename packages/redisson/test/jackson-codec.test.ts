import { describe, expect, it } from '@jest/globals';
import { jackson, type JavaClasses, JavaValue } from '../src/index.js';

const classes: JavaClasses = {
  'com.shop.Order': {
    id: 'String',
    count: 'Integer',
    flags: 'Byte',
    amount: 'Long',
    price: 'BigDecimal',
    great: 'BigInteger',
    weight: 'Double',
    ratio: 'Float',
    grade: 'Character',
    paid: 'Boolean',
    placed: 'Date',
    paidAt: 'Timestamp',
    shipped: 'Calendar',
    views: 'AtomicLong',
    uuid: 'UUID',
    status: 'com.shop.Status',
    channel: 'com.shop.Channel',
    address: 'com.shop.Address',
    place: 'com.shop.Place',
    tags: 'String[]',
    numbers: 'Long[]',
    seal: 'byte[]',
    labels: 'Set<String>',
    queue: 'LinkedList<Long>',
    statuses: 'List<com.shop.Status>',
    raw: 'List',
    counts: 'Map<Integer, Long>',
    byStatus: 'EnumMap<com.shop.Status, String>',
    anything: 'Object',
    amountOfAnyKind: 'Number',
    day: 'LocalDate',
  },
  'com.shop.Address': { city: 'String' },
  'com.shop.Home': { city: 'String', floor: 'Integer' },
  'com.shop.Primitives': { number: 'long', count: 'int' },
  'final com.shop.Place': { city: 'String', code: 'Long' },
  'final com.shop.Status': ['NEW', 'PAID'],
  'com.shop.Channel': ['WEB', 'SHOP'],
};

const declared = jackson({ classes, uuids: 'typed' });
const undeclared = jackson();

const written = (fields: object, codec = declared) =>
  codec
    .encode({ '@class': 'com.shop.Order', ...fields })
    .toString()
    .slice('{"@class":"com.shop.Order",'.length, -1);
const read = (fields: string, codec = undeclared) =>
  codec.decode(Buffer.from(`{"@class":"com.shop.Order",${fields}}`)) as Record<string, unknown>;

describe('an object of a declared class', () => {
  it.each<[fields: object, text: string]>([
    [{ id: '😀' }, '"id":"\\uD83D\\uDE00"'],
    [{ amount: 5 }, '"amount":["java.lang.Long",5]'],
    [{ amount: 2n ** 63n - 1n }, '"amount":["java.lang.Long",9223372036854775807]'],
    [
      { anything: { '@class': 'com.shop.Primitives', number: 2n ** 63n - 1n, count: 5n } },
      '"anything":{"@class":"com.shop.Primitives","count":5,"number":9223372036854775807}',
    ],
    [{ address: { '@class': 'com.shop.Home', city: 'Bern' } }, '"address":{"@class":"com.shop.Home","city":"Bern"}'],
    [{ price: 12.5 }, '"price":["java.math.BigDecimal",12.5]'],
    [{ price: '12.50' }, '"price":["java.math.BigDecimal",12.50]'],
    [{ price: 1e21 }, '"price":["java.math.BigDecimal",1000000000000000000000]'],
    [{ price: 1.5e-7 }, '"price":["java.math.BigDecimal",0.00000015]'],
    [{ great: 10 }, '"great":["java.math.BigInteger",10]'],
    [{ weight: 5, ratio: 1.1 }, '"ratio":1.1,"weight":5.0'],
    [{ weight: 1e7, ratio: 16777216 }, '"ratio":1.6777216E7,"weight":1.0E7'],
    [{ placed: new Date(5) }, '"placed":["java.util.Date",5]'],
    [{ paidAt: new Date(5) }, '"paidAt":["java.sql.Timestamp",5]'],
    [{ shipped: new Date(5) }, '"shipped":["java.util.GregorianCalendar",5]'],
    [{ views: 5 }, '"views":["java.util.concurrent.atomic.AtomicLong",5]'],
    [{ status: 'PAID', channel: 'WEB' }, '"channel":["com.shop.Channel","WEB"],"status":"PAID"'],
    [{ address: { city: 'Bern' } }, '"address":{"@class":"com.shop.Address","city":"Bern"}'],
    [{ place: { '@class': 'com.shop.Place', code: 5 } }, '"place":{"code":["java.lang.Long",5]}'],
    [{ tags: ['com.shop.Order', 'x'] }, '"tags":["com.shop.Order","x"]'],
    [{ numbers: [5, null] }, '"numbers":["[Ljava.lang.Long;",[["java.lang.Long",5],null]]'],
    [{ seal: Buffer.of(0, 1, 255) }, '"seal":"AAH/"'],
    [{ labels: ['a'] }, '"labels":["java.util.HashSet",["a"]]'],
    [{ queue: [5] }, '"queue":["java.util.LinkedList",[["java.lang.Long",5]]]'],
    [{ statuses: ['NEW'] }, '"statuses":["java.util.ArrayList",["NEW"]]'],
    [{ counts: { 7: 5 } }, '"counts":{"@class":"java.util.LinkedHashMap","7":["java.lang.Long",5]}'],
    [
      { byStatus: { PAID: 'x' } },
      '"byStatus":{"@class":"java.util.EnumMap<com.shop.Status,java.lang.Object>","PAID":"x"}',
    ],
    [{ anything: 5n }, '"anything":["java.lang.Long",5]'],
    [{ anything: new JavaValue('com.shop.Status', 'PAID') }, '"anything":["com.shop.Status","PAID"]'],
    [{ anything: new JavaValue('java.lang.Double', 5) }, '"anything":5.0'],
    [{ anything: new JavaValue('[I', [1, 2]) }, '"anything":["[I",[1,2]]'],
    [
      { anything: { '@class': 'com.shop.Place', city: 'Bern' } },
      '"anything":{"@class":"com.shop.Place","city":"Bern"}',
    ],
    [{ id: null, count: 1 }, '"count":1'],
  ])('is written as Java writes it: %p', (fields, text) => {
    expect(written(fields)).toBe(text);
  });

  it.each<[fields: object, problem: string]>([
    [{ count: 2 ** 31 }, 'payload.count: must be an integer of 32 bits (its type in Java is Integer)'],
    [{ count: 0.5 }, 'payload.count: '],
    [{ anything: { '@class': 'com.shop.Primitives', number: 5 } }, 'payload.anything.count: must be an integer'],
    [{ anything: { '@class': 'com.shop.Primitives', number: 5, count: null } }, 'payload.anything.count: '],
    [{ address: { '@class': 'com.shop.Primitives', number: 5, count: 5 } }, 'payload.address: '],
    [{ amountOfAnyKind: new JavaValue('com.shop.Status', 'NEW') }, 'payload.amountOfAnyKind: '],
    [{ flags: 128 }, 'payload.flags: '],
    [{ amount: 2 ** 53 }, 'payload.amount: '],
    [{ amount: 2n ** 63n }, 'payload.amount: '],
    [
      { price: 'much' },
      'payload.price: must be a number, a BigInt or its digits as text (its type in Java is BigDecimal)',
    ],
    [{ ratio: 0.123456789012 }, 'payload.ratio: '],
    [{ grade: 'ab' }, 'payload.grade: '],
    [{ paid: 1 }, 'payload.paid: '],
    [{ placed: 'today' }, 'payload.placed: '],
    [{ uuid: 'x' }, 'payload.uuid: '],
    [{ status: 'LOST' }, 'payload.status: must be one of NEW, PAID (its type in Java is com.shop.Status)'],
    [{ address: 'Bern' }, 'payload.address: '],
    [{ place: { '@class': 'com.shop.Address' } }, 'payload.place: '],
    [{ tags: ['a', 5] }, 'payload.tags[1]: must be text (its type in Java is String)'],
    [{ tags: 'a' }, 'payload.tags: must be an array (its type in Java is String[])'],
    [{ labels: { a: 1 } }, 'payload.labels: must be an array (its type in Java is Set)'],
    [{ seal: [1] }, 'payload.seal: '],
    [{ counts: { seven: 5 } }, 'payload.counts.seven: '],
    [{ counts: [5] }, 'payload.counts: '],
    [{ anything: { '@class': 'com.shop.Basket' } }, 'payload.anything: com.shop.Basket is not declared'],
    [{ anything: { '@class': 'java.lang.Thread' } }, 'payload.anything: java.lang.Thread is not declared'],
    [{ anything: new JavaValue('com.shop.Basket', 'x') }, 'payload.anything: '],
    [{ amountOfAnyKind: 'five' }, 'payload.amountOfAnyKind: '],
    [
      { day: '2024-01-31' },
      'payload.day: must be what was received, because this codec does not know its bytes (its type in Java is LocalDate)',
    ],
    [{ colour: 'red' }, 'payload.colour: com.shop.Order has no such field'],
  ])('is refused with an error that gives the path if Java could not read it: %p', (fields, problem) => {
    expect(() => written(fields)).toThrow(
      expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringContaining(problem) }),
    );
  });

  it('is read with the declared types', () => {
    const fields =
      '"amount":["java.lang.Long",5],"anything":["java.lang.Long",5],"place":{"city":"Bern"},"seal":"AAH/","tags":["com.shop.Order","x"]';
    expect(read(fields, declared)).toStrictEqual({
      '@class': 'com.shop.Order',
      amount: 5,
      anything: 5n,
      place: { '@class': 'com.shop.Place', city: 'Bern' },
      seal: Buffer.of(0, 1, 255),
      tags: ['com.shop.Order', 'x'],
    });
  });

  it('keeps its bytes when it is offered again, even if the declaration is wrong', () => {
    const text =
      '"count":"x","labels":["a"],"paid":["java.lang.Long",5],"place":{"@class":"com.shop.Old","a":1},"tags":5';
    expect(declared.encode(read(text, declared)).toString()).toBe(`{"@class":"com.shop.Order",${text}}`);
  });

  it('keeps its bytes when it is offered again, even if a primitive field is missing', () => {
    const text = '{"@class":"com.shop.Primitives","number":5}';
    expect(declared.encode(declared.decode(Buffer.from(text))).toString()).toBe(text);
  });

  it('is written with UUIDs in the form that the options specify, or refused if they specify none', () => {
    const uuid = '01234567-89ab-cdef-0123-456789abcdef';
    expect(written({ uuid })).toBe(`"uuid":["java.util.UUID","${uuid}"]`);
    expect(written({ uuid }, jackson({ classes, uuids: 'text' }))).toBe(`"uuid":"${uuid}"`);
    const unset = jackson({ classes });
    expect(() => written({ uuid }, unset)).toThrow(/payload\.uuid: .* set uuids of jackson\(\)/);
    for (const text of [`"uuid":"${uuid}"`, `"uuid":["java.util.UUID","${uuid}"]`]) {
      expect(read(text, unset).uuid).toBe(uuid);
      expect(unset.encode(read(text, unset)).toString()).toContain(text);
    }
  });

  it('is written for Jackson 3 with plain Longs, dates as strings and unescaped emoji', () => {
    const codec = jackson({ classes, jackson: 3 });
    const order = { id: '😀', amount: 5, placed: new Date(5), queue: [5], anything: 5n };
    expect(written(order, codec)).toBe(
      '"amount":5,"anything":["java.lang.Long",5],"id":"😀","placed":["java.util.Date","1970-01-01T00:00:00.005Z"],"queue":["java.util.LinkedList",[5]]',
    );
  });
});

describe('an object of an undeclared class', () => {
  const text =
    '"at":["java.sql.Timestamp",5],"b":5,"changed":true,"n":["java.lang.Long",5],"p":["java.math.BigDecimal",12.50],' +
    '"pair":["com.shop.Order","x"],"set":["java.util.HashSet",["a"]],"sub":{"city":"Bern"},"t":"PAID","zero":0.0';

  it('is read with the types that its bytes reveal', () => {
    expect(read(text)).toStrictEqual({
      '@class': 'com.shop.Order',
      at: new Date(5),
      b: 5,
      changed: true,
      n: 5,
      p: '12.50',
      // Either an enum, or a String[] of two: both texts are kept.
      pair: new JavaValue('com.shop.Order', 'x'),
      set: ['a'],
      sub: { city: 'Bern' },
      t: 'PAID',
      zero: 0,
    });
  });

  it('keeps its bytes when it is offered again', () => {
    const payload = read(text);
    expect(undeclared.encode(payload).toString()).toBe(`{"@class":"com.shop.Order",${text}}`);
    // Here its parts are copied, because plain JSON has no dates and typed values.
    expect(undeclared.encode([payload]).toString()).toContain(text);
  });

  it('may be changed where its bytes name the type, and may lose fields', () => {
    const payload = read(text);
    Object.assign(payload, { n: 6n, p: 13, at: new Date(6), changed: false, t: undefined, b: null });
    const changed = undeclared.encode(payload).toString();
    expect(changed).toContain('"at":["java.sql.Timestamp",6],"changed":false,"n":["java.lang.Long",6]');
    expect(changed).toContain('"p":["java.math.BigDecimal",13],');
    expect(changed).not.toMatch(/"[tb]":/);
  });

  it.each<[change: object, path: string]>([
    [{ t: 'NEW' }, 'payload.t'],
    [{ b: 6 }, 'payload.b'],
    [{ n: 'six' }, 'payload.n'],
    [{ extra: 1 }, 'payload.extra'],
    [{ set: ['a', 'b'] }, 'payload.set'],
    [{ sub: { city: 'Bern' } }, 'payload.sub'],
    [{ pair: new JavaValue('com.shop.Order', 'y') }, 'payload.pair'],
  ])('is refused if a change cannot be written safely: %p', (change, path) => {
    const payload = Object.assign(read(text), change);
    expect(() => undeclared.encode(payload)).toThrow(
      expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringContaining(`${path}: `) }),
    );
  });

  it('is refused if it has a new element', () => {
    const payload = read(text);
    (payload.set as string[]).push('b');
    expect(() => undeclared.encode(payload)).toThrow(/payload\.set\[1\]: the type of this Java field is not declared/);
  });

  it('is refused if it is a copy', () => {
    expect(() => undeclared.encode({ ...read(text) })).toThrow(
      /com\.shop\.Order is not declared.*jackson\(\{ classes \}\)/,
    );
  });
});

describe('a payload of the jackson codec', () => {
  const again = (text: string) => undeclared.encode(undeclared.decode(Buffer.from(text))).toString();

  it.each([
    '5.0',
    '["com.shop.Order","x"]',
    '["a","b"]',
    '["java.util.HashSet",[0.0,12.5,1.0E21,["java.lang.Long",5],["java.math.BigDecimal",12.50],["java.lang.Short",3]]]',
    '{"@class":"java.util.HashMap","10":1,"2":2,"a":{"@class":"java.util.TreeMap","b":1.0}}',
    '["java.util.ArrayList",[["[Ljava.lang.String;",["a","b"]],["com.shop.Status","PAID"],["[I",[1]]]]',
    '{"city":"Bern","code":["java.lang.Long",5]}',
    '["java.util.Date",9223372036854775807]',
  ])('keeps its bytes when it is offered again: %s', (text) => {
    expect(again(text)).toBe(text);
  });

  it('loses the Java type of a collection that moves to another place', () => {
    const [list] = undeclared.decode(Buffer.from('["java.util.ArrayList",[["java.util.HashSet",["a"]]]]')) as unknown[];
    expect(declared.encode({ '@class': 'com.shop.Order', raw: list }).toString()).toContain(
      '"raw":["java.util.ArrayList",["a"]]',
    );
  });

  it('is written with the changes made to it', () => {
    const list = undeclared.decode(Buffer.from('["java.util.ArrayList",[5.0,["java.util.Date",5]]]')) as [number, Date];
    list[0] = 6.5;
    list[1].setTime(6);
    expect(undeclared.encode(list).toString()).toBe('["java.util.ArrayList",[6.5,["java.util.Date",6]]]');
  });
});

describe('the options of the jackson codec', () => {
  it.each<[options: object, problem: RegExp]>([
    [{ jackson: 4 }, /jackson\(\): jackson: must be 2 or 3/],
    [{ uuids: 'both' }, /jackson\(\): uuids: /],
    [{ classes: { 'com.shop.Order': { id: 'Strin' } } }, /com\.shop\.Order.*id.*Strin/],
  ])('are checked at startup: %p', (options, problem) => {
    expect(() => jackson(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(problem) }),
    );
  });
});

describe('a class with a type parameter', () => {
  it.each<[type: string, version: 2 | 3]>([
    ['com.shop.Pair<Long, String>', 3],
    ['com.shop.Pair<Long, String>', 2],
    ['List<com.shop.Pair<String, UUID>>', 3],
    ['com.shop.Pair<long[], String>[]', 3],
  ])('cannot be declared with a final type argument that the bytes do not reveal: %s, Jackson %d', (field, version) => {
    const declared = { 'com.shop.Pair': { first: 'Object', second: 'Object' }, 'com.shop.Holder': { field } };
    expect(() => jackson({ classes: declared, jackson: version })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining('com.shop.Holder.field: ') }),
    );
  });

  it.each(['com.shop.Pair<Object, String>', 'com.shop.Pair<Integer, Boolean>', 'com.shop.Pair<Number, com.shop.Pair>'])(
    'can be declared with other type arguments: %s',
    (field) => {
      const declared = { 'com.shop.Pair': { first: 'Object', second: 'Object' }, 'com.shop.Holder': { field } };
      expect(() => jackson({ classes: declared, jackson: 3 })).not.toThrow();
    },
  );
});
