import { expect, it } from '@jest/globals';
import type { PayloadCodec } from '../../lib/index.js';
import { CHANGED_BY_COPYING, copyOf, fixtureCodecsOf, ourCodecs } from './fixture-codecs.js';
import { CODEC_LINES } from './java-build.js';
import type { FixtureCodec } from './java-peer.js';
import { describeWithJava } from './java-suite.js';

describeWithJava(
  'what Java offers',
  (suite) => {
    /** What Java reads from bytes, as its difference from a fixture. Its own bytes differ too, if the codec omits types. */
    const differences = async (codec: FixtureCodec, fixture: string, bytes: Buffer) => ({
      fixture,
      difference: await suite.java.differenceFromFixture(codec, fixture, bytes),
    });

    it.each(fixtureCodecsOf(suite.line))(
      'is offered again with the same bytes, declared or not: codec %s',
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

    it.each(fixtureCodecsOf(suite.line))('is the same to Java when a copy is offered: codec %s', async (codec) => {
      const { declared } = ourCodecs(codec, suite.line);
      for (const fixture of await suite.java.fixtures()) {
        const bytes = await suite.java.encodeFixture(codec, fixture);
        const copied = declared.encode(copyOf(declared.decode(bytes)));
        const read = await differences(codec, fixture, copied);
        if (CHANGED_BY_COPYING.has(fixture)) continue;
        expect(read).toEqual(await differences(codec, fixture, bytes));
      }
    });
  },
  CODEC_LINES,
);

function again(codec: PayloadCodec, bytes: Buffer): Buffer {
  return codec.encode(codec.decode(bytes));
}
