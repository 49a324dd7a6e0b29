import { describe, expect, it } from '@jest/globals';
import { CHANGED_BY_COPYING, copyOf, type JsonFixtureCodec, ourCodecs } from './java/fixture-codecs.js';
import { readGoldenFixtures } from './java/golden/golden.js';

const CODECS: JsonFixtureCodec[] = ['json', 'jackson', 'json of Jackson 3', 'jackson of Jackson 3'];

describe.each(CODECS)('a payload written by Java with the %s codec', (codec) => {
  const golden = readGoldenFixtures().filter((each) => each.codec === codec);
  const cases = golden.flatMap(({ fixture, lines, text }) => lines.map((line) => ({ fixture, line, text })));

  it.each(cases)('keeps its bytes when it is offered again: $fixture, $line', ({ line, text }) => {
    const { declared, undeclared } = ourCodecs(codec, line);
    for (const each of [declared, undeclared]) {
      expect(each.encode(each.decode(Buffer.from(text))).toString()).toBe(text);
    }
  });

  // Jackson 3 writes the parts of a record as they are declared, which plain JSON does not show.
  const isChanged = (fixture: string) =>
    CHANGED_BY_COPYING.has(fixture) || (codec === 'json of Jackson 3' && fixture === 'record');

  it.each(cases.filter(({ fixture }) => !isChanged(fixture)))(
    'keeps its bytes when a copy is offered: $fixture, $line',
    ({ line, text }) => {
      const { declared } = ourCodecs(codec, line);
      expect(declared.encode(copyOf(declared.decode(Buffer.from(text)))).toString()).toBe(text);
    },
  );
});

describe.each<JsonFixtureCodec>(['jackson', 'jackson of Jackson 3'])(
  'a copy of a payload written by Java with the %s codec',
  (codec) => {
    const golden = readGoldenFixtures().filter((each) => each.codec === codec && each.text.includes('"@class":"peer.'));

    it.each(golden)('is refused if its class is not declared: $fixture, $lines', ({ lines, text }) => {
      const { undeclared } = ourCodecs(codec, lines[0]!);
      expect(() => undeclared.encode(copyOf(undeclared.decode(Buffer.from(text))))).toThrow(
        expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringMatching(/declare its class/) }),
      );
    });
  },
);
