import { types } from 'node:util';
import { isStrayPromise } from '../../message/failure.js';
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
      if (!types.isUint8Array(bytes)) {
        const given = isStrayPromise(bytes) ? 'a promise' : typeof bytes;
        throw unwritable(`the queue's codec must encode to a Buffer, not ${given}`);
      }
      // A copy: a codec may use its memory again for the next message before this one is sent.
      return Buffer.from(bytes);
    },

    decode(bytes) {
      let payload: unknown;
      try {
        payload = custom.decode(bytes);
      } catch (cause) {
        throw unreadable(bytes, 'custom', "the queue's codec could not decode them; see the cause", cause);
      }
      if (!isStrayPromise(payload)) return payload;
      throw unreadable(bytes, 'custom', "the queue's codec decodes to a promise; let it return the payload itself");
    },
  };
}
