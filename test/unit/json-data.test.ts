import { describe, expect, it, jest } from '@jest/globals';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { payloadCodecs } from '../../packages/redisson/src/codec/payload-codecs.js';
import { ODD_VALUES } from '../support/odd-values.js';

const native = (payload: unknown) => nativeCodec.encode({ type: '', payload, headers: {} }).toString().slice(1);
const WRITERS = { native, json: payloadCodecs.json.encode, jackson: payloadCodecs.jackson.encode };

const refuse = (): never => {
  throw new Error('not today');
};

const MARK = Symbol('mark');

class Thenable {
  then() {}
}
class Computed {
  get total() {
    return 3 + 4;
  }
}
class Marked {
  readonly [MARK] = 1;
}
class Own {
  constructor(readonly value: unknown) {}
  describe() {}
}
class Empty {
  describe() {}
}

const cyclic: Record<string, unknown> = { a: [1] };
(cyclic.a as unknown[]).push(cyclic);
const listed: unknown[] = [];
listed.push({ listed });

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { value };
  return value;
}

/** How to make each value that JSON would lose, and what the error says about it. */
const LOSSES: Readonly<Record<string, [make: () => unknown, said: string]>> = {
  'a promise': [() => Promise.resolve(1), 'a Promise; await it first'],
  'a thenable': [() => new Thenable(), 'a thenable; await it first'],
  'a literal with a then': [() => ({ then: () => undefined }), 'a thenable; await it first'],
  'a map': [() => new Map([[1, 2]]), 'a Map; offer Object.fromEntries(map)'],
  'a map of a class': [() => new (class Registry extends Map {})(), 'a Map; offer Object.fromEntries(map)'],
  'a set': [() => new Set([1]), 'a Set; offer [...set]'],
  'a WeakMap': [() => new WeakMap(), 'a WeakMap; '],
  'a WeakSet': [() => new WeakSet(), 'a WeakSet; '],
  'a WeakRef': [() => new WeakRef({}), 'an instance of WeakRef; '],
  'an error': [() => new TypeError('x'), 'an Error; offer { name: error.name'],
  'an error with fields': [() => Object.assign(new Error('x'), { code: 'ENOENT' }), 'an Error; '],
  'an error made without a constructor': [() => Object.create(Error.prototype) as unknown, 'an Error; '],
  'a regular expression': [() => /x/g, 'a RegExp; offer its text'],
  'an ArrayBuffer': [() => new ArrayBuffer(2), 'an ArrayBuffer; offer base64 text'],
  'a DataView': [() => new DataView(new ArrayBuffer(2)), 'an ArrayBuffer view; offer base64 text'],
  floats: [() => Float64Array.of(1.5), 'an ArrayBuffer view; offer base64 text'],
  'a symbol': [() => Symbol('s'), 'a symbol; leave it out'],
  'a boxed symbol': [() => Object(Symbol('s')) as unknown, 'a symbol; offer its text'],
  'a function': [() => () => 1, 'a function; leave it out'],
  'a class': [() => Own, 'a function; leave it out'],
  NaN: [() => NaN, 'NaN; offer null, or text'],
  infinity: [() => -Infinity, '-Infinity; offer null, or text'],
  'a boxed NaN': [() => Object(NaN) as unknown, 'NaN; offer null, or text'],
  'a hole': [() => [1, , 3], 'undefined in a list; offer null'], // eslint-disable-line no-sparse-arrays
  'undefined in a list': [() => [undefined], 'undefined in a list; offer null'],
  'a list element whose toJSON returns nothing': [
    () => [{ toJSON: () => undefined }],
    'undefined in a list; offer null',
  ],
  'a match with groups': [() => /(?<year>\d+)/.exec('in 2026'), "the field 'index' of a list; offer [...list]"],
  'a list with a field': [() => Object.assign([1, 2], { total: 3 }), "the field 'total' of a list; offer [...list]"],
  'an empty list with a field': [() => Object.assign([], { 4294967295: 1 }), "the field '4294967295' of a list; "],
  'an object with only inherited data': [() => Object.create({ a: 1 }) as unknown, 'an instance of Object; '],
  'a generator': [() => (function* () { yield 1; })(), 'a generator; offer [...generator]'], // prettier-ignore
  'an iterator': [() => [1].values(), 'an instance of Array Iterator; offer [...it]'],
  URLSearchParams: [() => new URLSearchParams('a=1'), 'an instance of URLSearchParams; offer Object.fromEntries'],
  Headers: [() => new Headers({ a: '1' }), 'an instance of Headers; offer Object.fromEntries'],
  FormData: [() => new FormData(), 'an instance of FormData; offer Object.fromEntries'],
  'a Blob': [() => new Blob(['x']), 'an instance of Blob; offer a plain object'],
  'an AbortSignal': [() => new AbortController().signal, 'an instance of AbortSignal; '],
  'a number format': [() => new Intl.NumberFormat('en'), 'an instance of Intl.NumberFormat; '],
  'an instance with only computed properties': [() => new Computed(), 'an instance of Computed; offer a plain object'],
  'an instance with only symbols': [() => new Marked(), 'an instance of Marked; '],
  'a cycle': [() => cyclic, 'a cycle; offer plain data'],
  'a cycle of lists': [() => listed, 'a cycle; offer plain data'],
  'a promise from another realm': [() => runInNewContext('Promise.resolve(1)') as unknown, 'a Promise; '],
  'an error from another realm': [() => runInNewContext('new Error()') as unknown, 'an Error; '],
};

describe.each(Object.entries(WRITERS))('a payload written as JSON by the %s codec', (name, write) => {
  it.each(Object.entries(LOSSES))('is rejected if it is or contains %s', (_, [make, said]) => {
    const message = expect.stringContaining(`JSON cannot represent ${said}`) as unknown;
    for (const payload of [make(), { items: [0, make()] }, { toJSON: () => make() }, new Own(make())]) {
      expect(() => write(payload)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD', message }));
    }
  });

  it('is rejected if a toJSON() returns what JSON would lose', () => {
    const cases: [payload: unknown, said: string][] = [
      [new Date(NaN), 'an invalid Date; offer null'],
      [{ at: new Date(NaN) }, 'an invalid Date; offer null'],
      [{ toJSON: () => new Date(NaN) }, 'a Date without its toJSON(); offer its text'],
      [{ toJSON: () => ({ toJSON: () => 1 }) }, 'a function; leave it out'],
      [{ toJSON: () => Promise.resolve(1) }, 'a Promise; await it first'],
    ];
    for (const [payload, said] of cases) {
      // Jackson can express dates.
      if (name === 'jackson' && said.startsWith('a Date')) continue;
      expect(() => write(payload)).toThrow(expect.objectContaining({ message: expect.stringContaining(said) }));
    }
  });

  it('is rejected with the path of the value that cannot be written', () => {
    const cases: [payload: unknown, path: string][] = [
      [NaN, 'payload'],
      [{ items: [1, { price: NaN }] }, 'payload.items[1].price'],
      [{ 'a b': { '': NaN } }, 'payload["a b"][""]'],
      [[[new Own({ seen: [undefined] })]], 'payload[0][0].value.seen[0]'],
      [{ at: { toJSON: () => ({ deep: NaN }) } }, 'payload.at.deep'],
      [cyclic, 'payload.a[1]'],
      [{ [`k${'x'.repeat(100)}`]: NaN }, `payload["k${'x'.repeat(39)}"]`],
      [{ price: { get amount() { return refuse(); } } }, 'payload.price.amount'], // prettier-ignore
      [{ price: { toJSON: refuse } }, 'payload.price'],
      [{ price: [{ then: 1 }, new Proxy({}, { ownKeys: refuse })] }, 'payload.price[1]'],
    ];
    for (const [payload, path] of cases) {
      expect(() => write(payload)).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(new RegExp(`^${path.replace(/[[\].]/g, '\\$&')}: (it|JSON) `)),
        }),
      );
    }
  });

  it('is rejected if there is nothing to write', () => {
    for (const [payload, said] of [
      [undefined, 'JSON cannot represent undefined; offer plain data, or null for no payload'],
      [{ toJSON: () => undefined }, 'an object whose toJSON() returns nothing; '],
    ] as const) {
      expect(() => write(payload)).toThrow(expect.objectContaining({ message: expect.stringContaining(said) }));
    }
  });

  it('may contain bytes only if it is written for Jackson', () => {
    const payload = { seal: Buffer.of(1) };
    if (name === 'jackson') return expect(write(payload)).toContain('"seal":["[B","AQ=="]');
    expect(() => write(payload)).toThrow(
      'payload.seal: JSON cannot represent an ArrayBuffer view; offer base64 text, or a Buffer',
    );
  });

  it('is rejected with a typed error if reading it throws', () => {
    for (const [kind, make] of Object.entries(ODD_VALUES)) {
      const toJSON = (): never => {
        throw make();
      };
      expect(() => write({ a: { toJSON } })).toThrow(
        expect.objectContaining({
          code: 'INVALID_PAYLOAD',
          message: expect.stringMatching(/^payload\.a: it cannot be read \(/),
        }),
      );
      let error: unknown;
      try {
        write({ value: make() });
      } catch (thrown) {
        error = thrown;
      }
      const isHarmless = error === undefined || (error as { code?: unknown }).code === 'INVALID_PAYLOAD';
      expect({ kind, isHarmless }).toEqual({ kind, isHarmless: true });
    }
  });

  it('is written or rejected with a typed error, however deeply it is nested', () => {
    for (const levels of [10, 500]) expect(write(nested(levels))).toContain('1');
    for (const levels of [1e5, 1e6]) {
      expect(() => write(nested(levels))).toThrow(
        expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringMatching(/nested/) }),
      );
      expect(() => write({ at: new Own(1), deep: nested(levels) })).toThrow(
        expect.objectContaining({ code: 'INVALID_PAYLOAD' }),
      );
    }
    const endless = () => ({ at: { toJSON: endless } });
    expect(() => write(endless())).toThrow(
      expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringMatching(/…/) }),
    );
  });

  it('is accepted if it has many objects, but rejected if copies of shared objects would multiply without bound', () => {
    const many = Array.from({ length: 60_000 }, (_, i) => ({ i: [i] }));
    expect(write(many).length).toBeGreaterThan(many.length);
    let shared: unknown = [new Own('leaf')];
    for (let level = 0; level < 12; level++) shared = [shared, shared];
    expect(write(shared).match(/leaf/g)).toHaveLength(2 ** 12);
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    expect(() => write(shared)).toThrow('JSON cannot represent so many values; offer a reference to the data');
  });

  it('has its toJSON() methods called once each, with their keys', () => {
    const toJSON = jest.fn((key: string) => ({ key }));
    write({ a: { toJSON }, list: [0, { toJSON }] });
    expect(toJSON.mock.calls).toEqual([['a'], ['1']]);
    const top = jest.fn(() => ({ toJSON: 1 }));
    write({ toJSON: top });
    expect(top.mock.calls).toEqual([['']]);
  });
});

/** An object that is array-like but not an array. */
function argumentsOf(..._given: unknown[]): unknown {
  // eslint-disable-next-line prefer-rest-params -- the arguments object is what the test needs
  return arguments;
}

describe('JSON written by the native codec', () => {
  const shared = { a: 1 };

  it.each<[string, unknown]>([
    ['strings, with half of a surrogate pair', ['text', '\ud83d', { '\udc00': 'a\ud83d' }]],
    ['numbers', [0, -0, 5e-324, 1e21, -1.5]],
    ['dates', [new Date(0), { at: new Date(8.64e15) }]],
    ['a date with its own toJSON', Object.assign(new Date(0), { toJSON: () => 'then' })],
    ['an invalid date with its own toJSON', Object.assign(new Date(NaN), { toJSON: () => 'never' })],
    ['boxed primitives', [Object(1), Object('s'), Object(false)]],
    ['an instance of a class', new Own({ a: [new Own(1)] })],
    ['an empty instance of a class', [new Empty(), { empty: new Empty() }]],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    [
      'an object with own and inherited fields',
      Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true } }),
    ],
    ['an object with getters', { get a() { return [1]; } }], // prettier-ignore
    ['a frozen object', Object.freeze({ a: Object.freeze([1]) })],
    ['a proxy', new Proxy({ a: [1] }, {})],
    ['a proxy of a list', new Proxy([1, { a: 2 }], {})],
    ['a list of a class', Object.assign(new (class List extends Array<unknown> {})(), [1, 2])],
    ['the arguments of a function', argumentsOf(1, 2)],
    ['shared objects without a cycle', [shared, { shared }, [shared, shared]]],
    ['a URL, which has a toJSON', [new URL('https://a.example/'), { url: new URL('https://a.example/') }]],
    ['a function with a toJSON', { f: Object.assign(() => 1, { toJSON: () => 'f' }) }],
    ['a toJSON that is not a function', { toJSON: 1, a: { toJSON: 'x' } }],
    ['a toJSON that returns its object', { a: 1, toJSON() { return { ...this, toJSON: undefined }; } }], // prettier-ignore
    ['an object from another realm', runInNewContext('({ a: [1, { b: new Date(0) }], c: Object.create(null) })')],
    ['a toJSON that leaves its property out', { a: { toJSON: () => undefined }, b: 1 }],
    ['__proto__ as a key', JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":[]}}')],
    ['__proto__ as a key next to a date', { at: new Date(0), own: new Own(JSON.parse('{"__proto__":{"a":1}}')) }],
  ])('matches JSON.stringify: %s', (_, payload) => {
    // Twice, because the codec remembers classes.
    for (const _time of [1, 2]) expect(native(payload)).toBe(JSON.stringify(payload));
  });

  it('honours a toJSON() that an application has added to BigInt', () => {
    const prototype = BigInt.prototype as { toJSON?: () => string };
    prototype.toJSON = function (this: bigint) {
      return String(this);
    };
    try {
      expect(native({ a: 5n, b: [Object(6n)] })).toBe('{"a":"5","b":["6"]}');
    } finally {
      delete prototype.toJSON;
    }
    expect(() => native({ a: 5n })).toThrow('payload.a: JSON cannot represent a BigInt; offer it as text');
    expect(() => native([Object(5n)])).toThrow('payload[0]: JSON cannot represent a BigInt; offer it as text');
  });

  it('matches JSON.stringify for any value that JSON.stringify writes without loss', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.boolean(), (value, withDate) => {
        const payload = withDate ? new Own([value, new Date(0)]) : value;
        expect(native(payload)).toBe(JSON.stringify(payload));
      }),
    );
  });

  it('does not leave the rejection of a promise in the payload unhandled', async () => {
    // An unhandled one fails this test.
    expect(() => native({ user: Promise.reject(new Error('gone')) })).toThrow(
      'payload.user: JSON cannot represent a Promise',
    );
    await new Promise(setImmediate);
  });
});
