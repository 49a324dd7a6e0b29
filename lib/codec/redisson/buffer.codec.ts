import { types } from 'node:util';
import type { PayloadCodec } from './payload-codec.js';
import { unwritable } from './payload-errors.js';

/** Redisson's `ByteArrayCodec`: bytes as they are. They come back as a `Buffer`. */
export const bufferCodec: PayloadCodec = {
  encode(payload) {
    if (!types.isUint8Array(payload)) {
      throw unwritable('the codec buffer takes a Buffer or another Uint8Array only');
    }
    // A copy: what is done to the bytes after the call must not change the offer.
    return Buffer.from(payload);
  },

  decode: (bytes) => bytes,
};
