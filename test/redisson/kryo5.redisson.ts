import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type JavaClasses, JavaValue, kryo5 } from '../../lib/index.js';
import { copyOf } from './fixture-codecs.js';
import { FIXTURE_CLASSES } from './fixture-classes.js';
import { readGoldenKryoFixtures } from './golden/golden.js';
import { buildPeer, CODEC_LINES } from './java-build.js';
import { describeIfJava, describeWithJava } from './java-suite.js';
import { KRYO_FIXTURE_CLASSES } from './kryo-fixture-classes.js';
import { kryoPayloads } from './kryo-payloads.js';

const codec = kryo5({ classes: KRYO_FIXTURE_CLASSES });
/** Java's own StringBuilder is equal only to itself, and an EnumMap is not supported. */
const INCOMPARABLE = ['kryo: odds', 'rarities'];

describeWithJava(
  'Kryo',
  (suite) => {
    const golden = () => readGoldenKryoFixtures().filter(({ lines }) => lines.includes(suite.line));

    it('still writes the golden bytes, and reads those written here as the same objects', async () => {
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

    it('reads copies, of which nothing is remembered, as objects with the same fields', async () => {
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

    it('reads whatever is composed here, and writes it with the same bytes', async () => {
      await fc.assert(
        fc.asyncProperty(kryoPayloads, async (payload) => {
          const bytes = codec.encode(payload);
          expect((await suite.java.writeAgain('kryo5', bytes)).toString('hex')).toBe(bytes.toString('hex'));
        }),
        { numRuns: 500 },
      );
    });

    it('reads what is composed here', async () => {
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

describeIfJava()('the program DeclareClasses', () => {
  const program = fileURLToPath(new URL('../../docs/redisson/DeclareClasses.java', import.meta.url));

  async function print(...classes: string[]): Promise<{ stdout: string; stderr: string; code?: number }> {
    const classPath = await buildPeer('4');
    const args = ['--class-path', classPath, program, ...classes];
    return promisify(execFile)('java', args).catch((error: unknown) => error as { stdout: string; stderr: string });
  }

  /** Its TypeScript is JSON but for quotation marks and trailing commas. */
  function classesIn(typescript: string): JavaClasses {
    const literal = typescript.slice(typescript.indexOf('= {') + 2).replace(/;\s*$/, '');
    const json = literal
      .replaceAll("'", '"')
      .replace(/^( +)(\w+):/gm, '$1"$2":')
      .replace(/,(\s*\})/g, '$1');
    return JSON.parse(json) as JavaClasses;
  }

  it('prints the declarations of classes and of all that their fields mention', async () => {
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

  it('says so, with a comment and an exit code, if a class cannot be declared', async () => {
    const { stdout, stderr, code } = await print('peer.KryoFixtures$Tags', 'peer.Samples$Order');
    expect(code).toBe(1);
    expect(stderr).toContain('peer.KryoFixtures$Tags: a class that is a Collection cannot be declared');
    expect(stdout).toContain('  // peer.KryoFixtures$Tags: a class that is a Collection cannot be declared');
    expect(stdout).toContain("'peer.Samples$Order': {");
  });
});
