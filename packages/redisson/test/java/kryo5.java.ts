import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jackson, type JavaClasses, JavaValue, kryo5 } from '../../src/index.js';
import { copyOf } from './fixture-codecs.js';
import { FIXTURE_CLASSES } from './fixture-classes.js';
import { readGoldenKryoFixtures } from './golden/golden.js';
import { buildPeer, CODEC_LINES } from './java-build.js';
import { describeIfJava, describeWithJava } from './java-suite.js';
import { KRYO_FIXTURE_CLASSES } from './kryo-fixture-classes.js';
import { kryoPayloads } from './kryo-payloads.js';

interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly code?: number;
}

const codec = kryo5({ classes: KRYO_FIXTURE_CLASSES });
/** Java's own StringBuilder is equal only to itself, and an EnumMap is not supported. */
const INCOMPARABLE = ['kryo: odds', 'rarities'];

describeWithJava(
  'Kryo',
  (suite) => {
    const golden = () => readGoldenKryoFixtures().filter(({ lines }) => lines.includes(suite.line));

    it("still writes the golden bytes, and reads Node's bytes as the same objects", async () => {
      expect(golden().length).toBeGreaterThan(55);
      for (const { fixture, hex } of golden()) {
        const written = suite.java.encodeFixture('kryo5', fixture);
        if (hex === null) {
          await expect(written).rejects.toThrow(/InaccessibleObjectException|accessible/);
          continue;
        }
        expect({ fixture, hex: (await written).toString('hex') }).toEqual({ fixture, hex });
        if (INCOMPARABLE.includes(fixture)) continue;
        const bytes = codec.encode(codec.decode(Buffer.from(hex, 'hex')));
        expect({ fixture, difference: await suite.java.differenceFromFixture('kryo5', fixture, bytes) }).toEqual({
          fixture,
          difference: null,
        });
      }
    });

    it('reads payloads that were copied, without their original bytes, as objects with the same fields', async () => {
      for (const fixture of [
        'primitives',
        'boxes',
        'big numbers',
        'texts',
        'arrays',
        'order',
        'final class',
        'record',
        'nulls',
      ]) {
        const bytes = codec.encode(copyOf(codec.decode(await suite.java.encodeFixture('kryo5', fixture))));
        expect({ fixture, difference: await suite.java.differenceFromFixture('kryo5', fixture, bytes) }).toEqual({
          fixture,
          difference: null,
        });
      }
    });

    it('reads any payload composed in Node and writes it with the same bytes', async () => {
      await fc.assert(
        fc.asyncProperty(kryoPayloads, async (payload) => {
          const bytes = codec.encode(payload);
          expect((await suite.java.writeAgain('kryo5', bytes)).toString('hex')).toBe(bytes.toString('hex'));
        }),
        { numRuns: 500 },
      );
    });

    it('reads an object composed in Node', async () => {
      const order = {
        '@class': 'peer.Fixtures$OrderTimeout',
        orderId: 'o-1',
        amount: '5',
        price: '12.50',
        placedAt: new Date(1_700_000_000_123),
        status: 'PAID',
        items: ['a', 'b'].map((sku) => ({
          '@class': 'peer.Fixtures$Item',
          sku,
          quantity: 2,
          price: '12.50',
          weight: 5n,
        })),
        address: {
          '@class': 'peer.Fixtures$Address',
          city: 'Bern',
          previous: { '@class': 'peer.Fixtures$Address', city: 'Oslo' },
        },
        tags: ['new'],
        count: 2n,
      };
      expect(await suite.java.differenceFromFixture('kryo5', 'order', codec.encode(order))).toBeNull();
      const free = { a: [5n, new JavaValue('java.math.BigDecimal', '1.50')], b: new Date(5), c: 2 ** 31 };
      expect(await suite.java.decode('kryo5', codec.encode(free))).toEqual({
        type: 'java.util.LinkedHashMap',
        value: {
          a: {
            type: 'java.util.ArrayList',
            value: [
              { type: 'java.lang.Long', value: '5' },
              { type: 'java.math.BigDecimal', value: '1.50' },
            ],
          },
          b: { type: 'java.util.Date', value: '1970-01-01T00:00:00.005Z' },
          c: { type: 'java.lang.Long', value: '2147483648' },
        },
      });
    });
  },
  CODEC_LINES,
);

describeIfJava()('the DeclareClasses program', () => {
  const program = fileURLToPath(new URL('../../declare-classes/DeclareClasses.java', import.meta.url));

  beforeAll(() => buildPeer('4'), 600_000);

  async function print(...args: string[]): Promise<Output> {
    return printFrom(await buildPeer('4'), args);
  }

  function printFrom(classPath: string, args: readonly string[]): Promise<Output> {
    return promisify(execFile)('java', ['--class-path', classPath, program, ...args]).catch(
      (error: unknown) => error as Output,
    );
  }

  /** Its TypeScript is JSON but for quotation marks, trailing commas and comments. */
  function classesIn(typescript: string): JavaClasses {
    const literal = typescript.slice(typescript.indexOf('= {') + 2).replace(/;\s*$/, '');
    const json = literal
      .replace(/^ *\/\/.*\n/gm, '')
      .replaceAll("'", '"')
      .replace(/^( +)(\w+):/gm, '$1"$2":')
      .replace(/,(\s*\})/g, '$1');
    return JSON.parse(json) as JavaClasses;
  }

  it('prints the declarations of classes and of all classes used in their fields', async () => {
    const { stdout } = await print(
      ...['Times', 'Generics', 'Pages', 'Baskets', 'Containers', 'Arrays2', 'Odds'].map(
        (name) => `peer.KryoFixtures$${name}`,
      ),
    );
    const printed = classesIn(stdout);
    const {
      'peer.Fixtures$Item': item,
      'final peer.Fixtures$Status': status,
      ...others
    } = printed as typeof KRYO_FIXTURE_CLASSES;
    expect(item).toEqual(FIXTURE_CLASSES['peer.Fixtures$Item']);
    expect(status).toEqual(['NEW', 'PAID']);
    expect(KRYO_FIXTURE_CLASSES).toMatchObject(others);
    expect(() => kryo5({ classes: printed })).not.toThrow();
  });

  it('leaves out undeclarable classes and those that refer to them, prints all reasons and exits with code 1', async () => {
    const { stdout, stderr, code } = await print(
      'peer.KryoFixtures$Tags',
      'peer.Missing',
      ...declarations('Drawing', 'Gift', 'Parcel', 'Filter', 'Letters', 'Plain'),
    );
    expect(code).toBe(1);
    const reasons = [
      'peer.Missing is left out: it is not on the class path',
      'peer.KryoFixtures$Tags is left out: a class that is a Collection cannot be declared',
      'peer.Declarations$Gift is left out: note: java.util.Optional is not supported',
      'peer.Declarations$Parcel is left out: weight: peer.Declarations$Box with a final class as its type argument is not supported',
      'peer.Declarations$Filter is left out: pattern: java.util.regex.Pattern is not supported',
      'peer.Declarations$Filter is left out: other: java.util.Optional is not supported',
      'peer.Declarations$Shape is left out: an interface has no objects of its own; give the fields that mention it a class',
      'peer.Declarations$Sealed is left out: a class with a serializer of its own cannot be declared',
      'peer.Declarations$Drawing is left out: shapes: peer.Declarations$Shape cannot be declared',
      'peer.Declarations$Envelope is left out: sealed: peer.Declarations$Sealed cannot be declared',
      'peer.Declarations$Letters is left out: all: peer.Declarations$Envelope cannot be declared',
    ];
    expect(stderr.trimEnd().split('\n').sort()).toEqual([...reasons].sort());
    for (const reason of reasons) expect(stdout).toContain(`  // ${reason}`);
    const printed = classesIn(stdout);
    expect(printed).toEqual({
      'peer.Declarations$Box': { content: 'Object' },
      'peer.Declarations$Plain': { title: 'String' },
    });
    expect(() => kryo5({ classes: printed })).not.toThrow();
  });

  it('does not run without the libraries whose annotations it has to read', async () => {
    const [classes] = (await buildPeer('4')).split(delimiter);
    const { stdout, stderr, code } = await printFrom(classes!, declarations('Sealed'));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('The libraries of your application must be on the class path');
  });

  it.each([
    ['--jackson', { bill: {}, orderId: 'order_id' }],
    // This codec heeds getters, and Jackson 3 has another annotation for naming.
    ['--jackson3', { bill: { title: 'String' }, orderId: 'orderId' }],
  ])(
    'prints the properties that Jackson writes, and leaves out classes that it cannot declare: %s',
    async (option, { bill, orderId }) => {
      const { stdout, stderr, code } = await print(
        option,
        ...declarations('Bill', 'Snake', 'Coded', 'Dated', 'Level', 'Plain', 'Gift', 'Parcel'),
      );
      expect(code).toBe(1);
      expect(stderr.trimEnd().split('\n').sort()).toEqual(
        [
          'peer.Declarations$Code is left out: code: @JsonValue changes what Jackson writes',
          'peer.Declarations$Coded is left out: code: peer.Declarations$Code cannot be declared',
          'peer.Declarations$Dated is left out: year: @JsonFormat changes what Jackson writes',
          'peer.Declarations$Level is left out: LOW: a constant with a name of its own in JSON cannot be declared',
          'peer.Declarations$Parcel is left out: weight: peer.Declarations$Box with a final class as its type argument is not supported',
        ].sort(),
      );
      const printed = classesIn(stdout);
      expect(printed).toEqual({
        'peer.Declarations$Bill': { amount: 'Long', bill_no: 'String', late: 'boolean', paid: 'boolean', ...bill },
        'peer.Declarations$Box': { content: 'Object' },
        'peer.Declarations$Gift': { note: 'Optional<String>', title: 'String' },
        'peer.Declarations$Plain': { title: 'String' },
        'peer.Declarations$Snake': { [orderId]: 'String' },
      });
      expect(() => jackson({ classes: printed })).not.toThrow();
    },
  );

  it.each([
    ['--kryo5', ['URGENT', 'NORMAL']],
    ['--jackson', ['URGENT', 'NORMAL']],
    ['--jackson3', ["very 'urgent'", 'normal']],
  ])('prints the constants of an enum as the chosen codec writes them: %s', async (option, constants) => {
    const { stdout } = await print(option, ...declarations('Task'));
    const literal = constants.map((constant) => `'${constant.replaceAll("'", "\\'")}'`).join(', ');
    expect(stdout).toContain(`  'final peer.Declarations$Urgency': [${literal}],\n`);
    const classes = {
      'peer.Declarations$Task': { urgency: 'peer.Declarations$Urgency' },
      'final peer.Declarations$Urgency': constants,
    };
    expect(() => jackson({ classes, ...(option === '--jackson3' && { jackson: 3 }) })).not.toThrow();
  });

  it('refuses a property whose name cannot appear in a declaration', async () => {
    const { stderr } = await print('--jackson', ...declarations('Kebab'));
    expect(stderr).toContain('Kebab is left out: order-id: a property must be called like a field of Java');
  });
});

function declarations(...names: string[]): string[] {
  return names.map((name) => `peer.Declarations$${name}`);
}
