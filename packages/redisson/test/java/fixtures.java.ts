import { expect, it } from '@jest/globals';
import { jackson, JavaValue, type PayloadCodec } from '../../src/index.js';
import { FIXTURE_CLASSES } from './fixture-classes.js';
import { CHANGED_BY_COPYING, copyOf, fixtureCodecsOf, ourCodecs } from './fixture-codecs.js';
import { CODEC_LINES } from './java-build.js';
import type { FixtureCodec } from './java-peer.js';
import { describeWithJava } from './java-suite.js';

describeWithJava(
  'a payload shared by Java and Node',
  (suite) => {
    /** Returns the difference between the object that Java reads from bytes and a fixture. Its own bytes differ too, if the codec omits types. */
    const differences = async (codec: FixtureCodec, fixture: string, bytes: Buffer) => ({
      fixture,
      difference: await suite.java.differenceFromFixture(codec, fixture, bytes),
    });

    it.each(fixtureCodecsOf(suite.line))(
      'from Java keeps its bytes when it is offered again, declared or not: codec %s',
      async (codec) => {
        const { declared, undeclared } = ourCodecs(codec, suite.line);
        for (const fixture of await suite.java.fixtures()) {
          const bytes = await suite.java.encodeFixture(codec, fixture);
          for (const each of [declared, undeclared]) {
            expect({ fixture, text: again(each, bytes).toString() }).toEqual({ fixture, text: bytes.toString() });
          }
        }
      },
    );

    it.each(fixtureCodecsOf(suite.line))(
      'from Java means the same to Java when a copy is offered: codec %s',
      async (codec) => {
        const { declared } = ourCodecs(codec, suite.line);
        for (const fixture of await suite.java.fixtures()) {
          const bytes = await suite.java.encodeFixture(codec, fixture);
          const copied = declared.encode(copyOf(declared.decode(bytes)));
          const read = await differences(codec, fixture, copied);
          if (CHANGED_BY_COPYING.has(fixture)) continue;
          expect(read).toEqual(await differences(codec, fixture, bytes));
        }
      },
    );

    it.each(fixtureCodecsOf(suite.line).filter((codec) => codec.startsWith('jackson')))(
      'is written with the enum constants as DeclareClasses prints them: codec %s',
      async (codec) => {
        const isThree = codec.endsWith('Jackson 3');
        const constants = isThree ? ["very 'urgent'", 'normal'] : ['URGENT', 'NORMAL'];
        const classes = {
          'peer.Declarations$Task': { urgency: 'peer.Declarations$Urgency' },
          'final peer.Declarations$Urgency': constants,
        };
        const declared = jackson({ classes, jackson: isThree ? 3 : 2 });
        for (const urgency of constants) {
          const bytes = declared.encode({ '@class': 'peer.Declarations$Task', urgency });
          expect((await suite.java.readAndWrite(codec, bytes)).toString()).toBe(bytes.toString());
        }
      },
    );

    it.each(fixtureCodecsOf(suite.line).filter((codec) => codec.startsWith('jackson')))(
      'from Node is rewritten by Java with the same bytes, whatever its value: codec %s',
      async (codec) => {
        const { declared } = ourCodecs(codec, suite.line);
        const wrong: string[] = [];
        let accepted = 0;
        for (const payload of oddPayloads()) {
          const bytes = encodedOrRefused(declared, payload);
          if (bytes === undefined) continue;
          accepted++;
          const read = await suite.java.readAndWrite(codec, bytes).catch(String);
          // Java reads an empty EnumMap, but cannot write one.
          if (read.toString().includes('type parameter for `EnumMap`')) continue;
          if (read.toString() !== bytes.toString()) wrong.push(`${bytes.toString()} became ${read.toString()}`);
        }
        expect(wrong).toEqual([]);
        expect(accepted).toBeGreaterThan(300);
      },
    );
  },
  CODEC_LINES,
);

const ODD: readonly unknown[] = [
  ...[
    '',
    'a',
    'PAID',
    'WEB',
    '5',
    '12.50',
    '1e5',
    'java.lang.Long',
    '01234567-89ab-cdef-0123-456789abcdef',
    '😀',
    '\u0000',
  ],
  ...[0, -0, 5, -129, 32768, 2 ** 31, 2 ** 53 - 1, 0.1, 1e-5, 1e21, 1e300, 16777217],
  ...[5n, -(2n ** 63n), 2n ** 63n, 2n ** 200n, true, null],
  ...[new Date(0), new Date(-8.64e15), new Date(8.64e15), Buffer.of(), Buffer.of(0, 255)],
  ...[
    [],
    ['a'],
    ['PAID'],
    [5],
    [5n],
    [null],
    ['java.lang.Long', 5],
    [['a']],
    [{}],
    {},
    { a: 1 },
    { 7: 'x' },
    { PAID: 5n },
  ],
  ...[new JavaValue('java.lang.Short', 5), new JavaValue('peer.Fixtures$Status', 'NEW'), new JavaValue('[I', [1])],
  { '@class': 'peer.Fixtures$Item', sku: 'a', quantity: 1 },
  { '@class': 'peer.Fixtures$Place', code: 5 },
  [{ '@class': 'peer.Fixtures$Item', quantity: 1, price: '12.50' }],
];

const DEFAULTS: Readonly<Record<string, unknown>> = { boolean: false, char: 'a' };

/** Each odd value in each field of each class, and as a payload, an element and an entry. */
function* oddPayloads(): Generator {
  for (const [declaration, fields] of Object.entries(FIXTURE_CLASSES)) {
    if (Array.isArray(fields)) continue;
    const [type, prefix] = declaration.split(' ').reverse();
    const primitives = Object.entries(fields as Record<string, string>).filter(([, name]) => /^[a-z]+$/.test(name));
    const base = Object.fromEntries(primitives.map(([field, name]) => [field, DEFAULTS[name] ?? 0]));
    for (const field of Object.keys(fields)) {
      for (const value of ODD) {
        const object = { '@class': type, ...base, [field]: value };
        // Java writes a whole payload of a final class without its name, and cannot read it again.
        yield prefix === undefined ? object : [object];
      }
    }
  }
  // Java leaves out entries that are null.
  for (const value of ODD) yield* [[value], { key: value ?? 0 }];
}

function encodedOrRefused(codec: PayloadCodec, payload: unknown): Buffer | undefined {
  try {
    return codec.encode(payload);
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
    return undefined;
  }
}

function again(codec: PayloadCodec, bytes: Buffer): Buffer {
  return codec.encode(codec.decode(bytes));
}
