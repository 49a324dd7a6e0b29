import { bufferCodec } from './buffer.codec.js';
import { jacksonCodec } from './jackson.codec.js';
import { jsonCodec } from './json.codec.js';
import { kryo5Codec } from './kryo5.codec.js';
import type { PayloadCodec, TextCodec } from './payload-codec.js';
import { stringCodec } from './string.codec.js';

/** The codecs of Redisson that come with this package, by name. */
export const payloadCodecs = {
  json: jsonCodec,
  string: stringCodec,
  buffer: bufferCodec,
  jackson: jacksonCodec,
  kryo5: kryo5Codec,
} satisfies Readonly<Record<string, PayloadCodec | TextCodec>>;
