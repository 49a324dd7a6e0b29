import type { PayloadCodec } from '../src/codec/payload-codec.js';
import { payloadCodecs } from '../src/codec/payload-codecs.js';

const { json, string, buffer, jackson, kryo5 } = payloadCodecs;

/** Redisson's codecs as the server sees them, where text is UTF-8. */
export const wireCodecs = {
  json: onTheWire(json),
  string: onTheWire(string),
  buffer: onTheWire(buffer),
  jackson: onTheWire(jackson),
  kryo5: onTheWire(kryo5),
};

function onTheWire({ encode, decode }: (typeof payloadCodecs)[keyof typeof payloadCodecs]): PayloadCodec {
  return { encode: (payload) => Buffer.from(encode(payload) as string), decode };
}
