import { jacksonCodecWith } from '../../../packages/redisson/src/codec/jackson/jackson-codec.js';
import { jsonCodecWith } from '../../../packages/redisson/src/codec/json-codec.js';
import { kryo5CodecWith } from '../../../packages/redisson/src/codec/kryo/kryo5-codec.js';
import type { PayloadCodec, TextCodec } from '../../../packages/redisson/src/codec/payload-codec.js';
import { payloadCodecs } from '../../../packages/redisson/src/codec/payload-codecs.js';
import { FIXTURE_CLASSES } from '../../../packages/redisson/test/java/fixture-classes.js';
import {
  type GoldenCodec,
  readGolden,
  readGoldenFixtures,
  readGoldenKryoFixtures,
} from '../../../packages/redisson/test/java/golden/golden.js';
import { KRYO_FIXTURE_CLASSES } from '../../../packages/redisson/test/java/kryo-fixture-classes.js';
import { expectSame, orRefused, type Target } from '../target.js';

/** What Java has written. Long texts would only make inputs slower. */
function golden(codec: GoldenCodec): Buffer[] {
  return readGolden('4')
    .payloads[codec].map(({ bytes }) => bytes)
    .flatMap((bytes) =>
      'text' in bytes ? [Buffer.from(bytes.text)] : 'hex' in bytes ? [Buffer.from(bytes.hex, 'hex')] : [],
    )
    .filter((bytes) => bytes.length < 1000);
}

const json = [
  ...golden('json'),
  ...golden('jackson'),
  ...readGoldenFixtures().flatMap(({ text }) => (text ? [Buffer.from(text)] : [])),
];
const kryo = [
  ...golden('kryo5'),
  ...readGoldenKryoFixtures().flatMap(({ hex }) => (hex ? [Buffer.from(hex, 'hex')] : [])),
];

/** The codecs of queues that are shared with Java. */
export const redissonPayloads: readonly Target[] = [
  target('string', payloadCodecs.string, golden('string')),
  target('json', payloadCodecs.json, json),
  target('json, exact numbers', jsonCodecWith({ numbers: 'exact', jackson: 3 }), json),
  target('jackson', jacksonCodecWith({ classes: FIXTURE_CLASSES, uuids: 'typed' }), json),
  target('jackson 3', jacksonCodecWith({ jackson: 3 }), json),
  target('kryo5', kryo5CodecWith({ classes: KRYO_FIXTURE_CLASSES }), kryo),
];

function target(name: string, codec: PayloadCodec | TextCodec, samples: readonly Buffer[]): Target {
  return {
    ...{ name: `payloads of ${name}`, samples },
    check(bytes) {
      const payload = orRefused('INVALID_PAYLOAD', () => ({ read: codec.decode(bytes) }));
      if (!payload) return;
      if ('isOwn' in codec) codec.isOwn?.(bytes);
      // Some values are read but not written, such as null, and objects of undeclared classes.
      const body = orRefused('INVALID_PAYLOAD', () => codec.encode(payload.read));
      if (body === undefined) return;
      const read = codec.decode(Buffer.from(body as string));
      const again = codec.encode(read);
      // What was received is written as it was received, and may then have another form that means the same.
      if (!isSame(again, body))
        expectSame('a payload', textOf(codec.decode(Buffer.from(again as string))), textOf(read));
    },
  };
}

const isSame = (one: Buffer | string, other: Buffer | string) =>
  Buffer.from(one as string).equals(Buffer.from(other as string));

/** A Long is a number or a BigInt, depending on the classes around it. */
function textOf(payload: unknown): string {
  return JSON.stringify(payload, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
}
