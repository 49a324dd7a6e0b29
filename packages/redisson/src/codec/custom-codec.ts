import { types } from 'node:util';
import { isStrayPromise } from 'nestjs-delay-queue/layouts';
import type { PayloadCodec } from './payload-codec.js';
import { unreadable, unwritable } from './payload-errors.js';

/** Wraps an application's own codec, so that any failure of it becomes a typed error. */
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
      // Copied, because a codec may reuse its memory for the next message before this one is sent.
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
      throw unreadable(bytes, 'custom', "the queue's codec decodes to a promise; make it return the payload itself");
    },
  };
}
