import type { PayloadCodec } from './payload-codec.js';
import { unreadable, unwritable } from './payload-errors.js';

/** A codec of an application's own, whose failures of whatever kind become the typed errors of a codec. */
export function customCodec(custom: PayloadCodec): PayloadCodec {
  return {
    encode(payload) {
      let bytes: unknown;
      try {
        bytes = custom.encode(payload);
      } catch (cause) {
        throw unwritable("the queue's codec could not encode it; see the cause", cause);
      }
      if (!(bytes instanceof Uint8Array)) {
        throw unwritable(`the queue's codec must encode to a Buffer, not ${typeof bytes}`);
      }
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },

    decode(bytes) {
      try {
        return custom.decode(bytes);
      } catch (cause) {
        throw unreadable(bytes, 'custom', "the queue's codec could not decode them; see the cause", cause);
      }
    },
  };
}
