import fc from 'fast-check';
import { JavaValue } from '../../src/index.js';

const CLASS = '@class';
const LEAST_LONG = -(2n ** 63n);

const text = fc.string({ unit: 'binary', maxLength: 40 });
const int = fc.integer();
const long = fc.bigInt({ min: LEAST_LONG, max: -LEAST_LONG - 1n });
const decimal = fc.tuple(fc.bigInt(), fc.nat(30)).map(([digits, scale]) => `${digits}E-${scale}`);
const date = fc.date({ noInvalidDate: true });
const instant = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
  .map((at) => at.toISOString());
const status = fc.constantFrom('NEW', 'PAID');
const key = fc.string({ unit: 'binary' }).filter((name) => name !== CLASS);

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 6 });
const list = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(nullable(arbitrary), { maxLength: 6 });
const map = <T>(arbitrary: fc.Arbitrary<T>) => fc.dictionary(key, nullable(arbitrary), { maxKeys: 6 });
const as = (type: string, arbitrary: fc.Arbitrary<unknown>) => arbitrary.map((value) => new JavaValue(type, value));

function objectOf(name: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.record({ [CLASS]: fc.constant(`peer.${name}`), ...fields });
}

const item = objectOf('Fixtures$Item', {
  sku: nullable(text),
  quantity: int,
  price: nullable(decimal),
  weight: nullable(long),
});
const place = objectOf('Fixtures$Place', { city: nullable(text), code: nullable(long) });
const money = objectOf('Fixtures$Money', { currency: nullable(text), cents: long });

const typed = fc.oneof(
  as('java.math.BigDecimal', decimal),
  as('java.math.BigInteger', fc.bigInt()),
  as('java.lang.Float', fc.float()),
  as('java.lang.Short', fc.integer({ min: -32_768, max: 32_767 })),
  as('java.lang.Byte', fc.integer({ min: -128, max: 127 })),
  as('java.sql.Timestamp', date),
  as('java.time.Instant', instant),
  as('peer.Fixtures$Status', status),
  as('[Ljava.lang.Long;', list(long)),
  as('[[I', fc.array(fc.array(int))),
);

const free = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    ...[text, int, fc.double(), fc.boolean(), long, fc.bigInt(), date, typed, item, place, money],
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    list(tie('value')),
    list(fc.oneof(int, item)),
    map(tie('value')),
    as('java.util.LinkedList', list(tie('value'))),
    as('java.util.Arrays$ArrayList', list(tie('value'))),
    as('[Ljava.lang.Object;', list(tie('value'))),
    as('java.util.ImmutableCollections$ListN', fc.array(tie('value'), { minLength: 3, maxLength: 5 })),
  ),
})).value;

/** Without HashSets and HashMaps, whose order Java decides. */
const generics = objectOf('KryoFixtures$Generics', {
  texts: nullable(list(list(text))),
  numbers: nullable(map(list(long))),
  deep: nullable(map(map(int))),
  maps: nullable(list(map(long))),
  items: nullable(list(map(item))),
  bounded: nullable(list(int)),
  lower: nullable(list(int)),
  objects: nullable(list(free)),
  arrayOfLists: nullable(list(list(text))),
  arrays: nullable(list(list(text))),
  bytes: nullable(list(fc.uint8Array())),
  places: nullable(list(place)),
  statuses: nullable(list(status)),
  money: nullable(list(money)),
  byStatus: nullable(fc.dictionary(status, nullable(long))),
  byNumber: nullable(fc.dictionary(int.map(String), nullable(fc.boolean()))),
  byAnything: nullable(map(free)),
});

const basket = objectOf('KryoFixtures$Basket', {
  count: int,
  total: nullable(long),
  tags: nullable(list(text)),
  counts: nullable(map(long)),
  anything: nullable(free),
  item: nullable(item),
  place: nullable(place),
  grade: fc.constantFrom('a', '\ud83d', 'é'),
  paid: fc.boolean(),
  port: fc.integer({ min: -32_768, max: 32_767 }),
  level: fc.integer({ min: -128, max: 127 }),
  weight: fc.double(),
  ratio: fc.float(),
  number: long,
  labels: nullable(list(text)),
  price: nullable(decimal),
  status: nullable(status),
});

/** Payloads with the classes of `KryoFixtures.java`. */
export const kryoPayloads = fc.oneof(free, generics, basket, list(basket), list(generics));
