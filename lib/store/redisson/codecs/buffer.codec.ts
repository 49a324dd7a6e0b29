import type { PayloadCodec } from './payload-codec.js';
import { unwritable } from './payload-errors.js';

/** Redisson's `ByteArrayCodec`: bytes as they are. They come back as a `Buffer`. */
export const bufferCodec: PayloadCodec = {
  encode(payload) {
    if (!(payload instanceof Uint8Array)) {
      throw unwritable('the codec buffer takes a Buffer or another Uint8Array only');
    }
    return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  },

  decode: (bytes) => bytes,
};
