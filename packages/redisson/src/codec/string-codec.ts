import type { TextCodec } from './payload-codec.js';
import { unwritable } from './payload-errors.js';
import { readUtf8 } from './utf8.js';

/** Redisson's `StringCodec`: strings as UTF-8. */
export const stringCodec: TextCodec = {
  encode(payload) {
    if (typeof payload !== 'string') {
      throw unwritable(`codec 'string' accepts only strings, not ${payload === null ? 'null' : typeof payload}`);
    }
    if (!payload.isWellFormed()) {
      throw unwritable("UTF-8 cannot represent an unpaired surrogate; use codec 'buffer' for bytes that are not text");
    }
    return payload;
  },

  decode: (bytes) => readUtf8(bytes, 'string'),
};
