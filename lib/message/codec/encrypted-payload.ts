import { DelayQueueError, recognizeAcrossCopies } from '../delay-queue-errors.js';
import { showGiven } from '../show-given.js';

const KEY_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;

/**
 * The payload and headers of a message, as this process sees them without the key with which they are encrypted. It can be offered again,
 * to any queue of the `native` layout and with the same type: whoever has the key can read the message.
 */
export class EncryptedPayload {
  /**
   * @param key - the key's id and the first bytes of a hash of the key, such as `k1:5f2b90aa`
   * @param bytes - what {@link bytes} of another `EncryptedPayload` has returned
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  constructor(
    /** The key's id, and the first bytes of a hash of the key. */
    readonly key: string,
    /** The nonce, the encrypted payload and headers, and the tag that protects them. */
    readonly bytes: Uint8Array,
  ) {
    if (typeof key !== 'string' || !KEY_NAME.test(key)) {
      throw new DelayQueueError(
        'INVALID_ARGUMENT',
        `key: must be the key of an EncryptedPayload, not ${showGiven(key)}`,
      );
    }
    if (!(bytes instanceof Uint8Array)) {
      throw new DelayQueueError('INVALID_ARGUMENT', `bytes: must be a Uint8Array, not ${showGiven(bytes)}`);
    }
  }

  /** The form in which JSON has it, for an export: the constructor takes both fields, the second as `Buffer.from(base64, 'base64')`. */
  toJSON(): { readonly encryptedWith: string; readonly base64: string } {
    return { encryptedWith: this.key, base64: Buffer.from(this.bytes).toString('base64') };
  }
}

recognizeAcrossCopies(EncryptedPayload, 'EncryptedPayload');
