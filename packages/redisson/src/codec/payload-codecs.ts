import { bufferCodec } from './buffer-codec.js';
import { jacksonCodecWith } from './jackson/jackson-codec.js';
import { jsonCodecWith } from './json-codec.js';
import { kryo5CodecWith } from './kryo/kryo5-codec.js';
import type { PayloadCodec, TextCodec } from './payload-codec.js';
import { stringCodec } from './string-codec.js';

/** Redisson's codecs in this package, by name. */
export const payloadCodecs = {
  json: jsonCodecWith({}),
  string: stringCodec,
  buffer: bufferCodec,
  jackson: jacksonCodecWith({}),
  kryo5: kryo5CodecWith({}),
} satisfies Readonly<Record<string, PayloadCodec | TextCodec>>;
