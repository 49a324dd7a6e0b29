import type { TextCodec } from './payload-codec.js';
import { unwritable } from './payload-errors.js';
import { readUtf8 } from './utf8.js';

/** Redisson's `StringCodec`: a text is its UTF-8. */
export const stringCodec: TextCodec = {
  encode(payload) {
    if (typeof payload !== 'string') {
      throw unwritable(`the codec string takes text only, not ${payload === null ? 'null' : typeof payload}`);
    }
    if (!payload.isWellFormed()) {
      throw unwritable('half of a surrogate pair has no UTF-8; it is not text, offer bytes with the codec buffer');
    }
    return payload;
  },

  decode: (bytes) => readUtf8(bytes, 'string'),
};
