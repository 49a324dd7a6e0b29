import { types } from 'node:util';
import type { PayloadCodec } from './payload-codec.js';
import { unwritable } from './payload-errors.js';

/** Redisson's `ByteArrayCodec`: bytes as they are, returned as a `Buffer`. */
export const bufferCodec: PayloadCodec = {
  encode(payload) {
    if (!types.isUint8Array(payload)) {
      throw unwritable("codec 'buffer' accepts only a Buffer or another Uint8Array");
    }
    // Copied, because later changes to the bytes must not change the offer.
    return Buffer.from(payload);
  },

  decode: (bytes) => bytes,
};
