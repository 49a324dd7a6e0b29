import type { CodecName, PayloadCodec, TextCodec } from './payload-codec.js';

interface Original {
  readonly name: CodecName;
  readonly codec: PayloadCodec | TextCodec;
}

/** The property in which a codec for applications keeps its original, for all copies of the package. */
const ORIGINAL = Symbol.for('nestjs-delay-queue:codec');

type Configured = PayloadCodec & { readonly [ORIGINAL]?: Original };

/** Makes a codec of this package one that an application can hold and pass as an option. */
export function configured(name: CodecName, codec: PayloadCodec | TextCodec): PayloadCodec {
  const given: PayloadCodec = {
    encode(payload) {
      const body = codec.encode(payload);
      return typeof body === 'string' ? Buffer.from(body) : body;
    },
    decode: (bytes) => codec.decode(bytes),
  };
  // Not enumerable, so that codecs are compared by what an application gave.
  return Object.defineProperty(given, ORIGINAL, { value: { name, codec } satisfies Original });
}

/** Returns the codec of this package that an application was given, or undefined for a codec of its own. */
export function originalOf(codec: PayloadCodec): PayloadCodec | TextCodec | undefined {
  return (codec as Configured)[ORIGINAL]?.codec;
}

/** Names a codec in an error or a log line. */
export function nameOfCodec(codec: CodecName | PayloadCodec): string {
  if (typeof codec === 'string') return `'${codec}'`;
  const original = (codec as Configured)[ORIGINAL];
  return original ? `${original.name}({ … })` : 'of your own';
}
