import type { PayloadCodec, TextCodec } from './payload-codec.js';

const originals = new WeakMap<PayloadCodec, PayloadCodec | TextCodec>();

/** Makes a codec of this package one that an application can hold and pass as an option. */
export function configured(codec: PayloadCodec | TextCodec): PayloadCodec {
  const given: PayloadCodec = {
    encode(payload) {
      const body = codec.encode(payload);
      return typeof body === 'string' ? Buffer.from(body) : body;
    },
    decode: (bytes) => codec.decode(bytes),
  };
  originals.set(given, codec);
  return given;
}

/** The codec of this package that an application was given, or undefined for a codec of its own. */
export function originalOf(codec: PayloadCodec): PayloadCodec | TextCodec | undefined {
  return originals.get(codec);
}
