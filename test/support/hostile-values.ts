import fc from 'fast-check';
import { ODD_RESULTS, ODD_VALUES, refuse } from './odd-values.js';

const TRAPS = ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'] as const;

/** A forgotten await: somebody else hears of its rejection. */
function rejected(reason: Error): Promise<never> {
  const promise = Promise.reject<never>(reason);
  promise.catch(() => undefined);
  return promise;
}

class Secret {
  readonly #value = 1;
  get value(): number {
    return this.#value;
  }
}

const MAKERS: Readonly<Record<string, () => unknown>> = {
  ...ODD_VALUES,
  ...ODD_RESULTS,
  'a rejected promise whose then throws': () => Object.assign(rejected(new Error('x')), { then: refuse }),
  'a thenable that never ends': () => ({ then: () => undefined }),
  'a thenable that resolves twice': () => ({ then: (resolve: () => void) => [resolve(), resolve()] }),
  'a promise': () => Promise.resolve({ a: 1 }),
  'a rejected promise': () => rejected(new Error('x')),
  'private state': () => new Secret(),
  'a generator': () => [1].values(),
  'an error': () => new TypeError('x'),
  'a regular expression': () => /x/,
  'an invalid date': () => new Date(NaN),
  bytes: () => Buffer.of(1, 2),
  'headers of the web': () => new Headers({ a: 'b' }),
  'a symbol': () => Symbol('s'),
  'a boxed text': () => Object('text') as unknown,
  'a toJSON that throws': () => ({ toJSON: refuse }),
  'a toJSON that returns a promise': () => ({ toJSON: () => Promise.resolve(1) }),
  'a toJSON without end': function endless(): unknown {
    return { a: { toJSON: endless } };
  },
  'a cycle': () => {
    const cycle: unknown[] = [];
    cycle.push({ cycle });
    return cycle;
  },
  'deep nesting': () =>
    Array<null>(50_000)
      .fill(null)
      .reduce<unknown>((inner) => [inner], 1),
  ...Object.fromEntries(
    TRAPS.flatMap((trap): [string, () => unknown][] => [
      [`a proxy whose ${trap} throws`, () => new Proxy({ a: 1 }, { [trap]: refuse })],
      [`a proxy of a list whose ${trap} throws`, () => new Proxy([1], { [trap]: refuse })],
    ]),
  ),
};

/** Text of any characters, halves of surrogate pairs and what means something to Redis and to JSON among them. */
const anyText = fc.oneof(
  fc.string({ unit: fc.integer({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    '',
    ' ',
    '\u0000',
    '1s',
    '-1',
    '{}',
    'a:b',
    '9:9',
    'x'.repeat(10_000),
  ),
);

const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -0, 2 ** 31, 2 ** 53, 1e21));

/** Makes a value anew: what generates values looks at them, and these do not like it. */
export type Making = () => unknown;

function sound(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Making> {
  return arbitrary.map((value) => named(fc.stringify(value), () => value));
}

/** With a name for reports. */
function named(name: string, make: Making): Making {
  return Object.assign(() => make(), { [fc.toStringMethod]: () => name });
}

/** Anything at all, as code that is broken, careless or evil may hand over. */
export const anyHostile: fc.Arbitrary<Making> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...Object.entries(MAKERS)).map(([name, make]) => named(name, make)) },
  {
    weight: 3,
    arbitrary: sound(
      fc.anything({
        maxDepth: 3,
        withBigInt: true,
        withBoxedValues: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withObjectString: true,
        withSet: true,
        withSparseArray: true,
        withTypedArray: true,
        withUnicodeString: true,
      }),
    ),
  },
  sound(anyText),
  sound(anyNumber),
  sound(fc.date({ noInvalidDate: false })),
);

/** Something that is right, or is but for what is hidden in it. */
export const anyPayload: fc.Arbitrary<Making> = fc.oneof(
  anyHostile,
  sound(fc.jsonValue()),
  fc
    .tuple(fc.jsonValue(), anyHostile)
    .map(([plain, hidden]) =>
      named(`hidden: ${fc.stringify(hidden)}`, () => ({ plain, items: [{ hidden: hidden() }] })),
    ),
);

/** An object of some of these fields, each anything. */
export function anyOf(...fields: readonly string[]): fc.Arbitrary<Making> {
  return fc
    .dictionary(fc.constantFrom(...fields), anyHostile)
    .map((made) =>
      named(fc.stringify(made), () => Object.fromEntries(Object.entries(made).map(([key, make]) => [key, make()]))),
    );
}
