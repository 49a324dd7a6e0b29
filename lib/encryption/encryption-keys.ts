import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes as nodeRandomBytes,
} from 'node:crypto';
import { missingKey } from '../message/codec/native-codec.js';
import { EncryptedPayload } from '../message/codec/encrypted-payload.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FINGERPRINT_BYTES = 4;

interface NamedKey {
  readonly name: string;
  readonly secret: KeyObject;
}

/**
 * Encrypts with one key, and decrypts with any. What is encrypted says which key it needs by the key's id and a fingerprint, so two keys that
 * were given the same id are not mistaken for each other.
 */
export class EncryptionKeys {
  readonly #current: NamedKey | undefined;
  readonly #secrets = new Map<string, KeyObject>();
  readonly #randomBytes: (size: number) => Buffer;

  /** @param current - an id among `keys`; null: nothing is encrypted */
  constructor(
    keys: ReadonlyMap<string, Uint8Array>,
    current: string | null,
    randomBytes: (size: number) => Buffer = nodeRandomBytes,
  ) {
    this.#randomBytes = randomBytes;
    for (const [id, bytes] of keys) {
      const secret = createSecretKey(bytes);
      const name = `${id}:${fingerprintOf(secret)}`;
      this.#secrets.set(name, secret);
      if (id === current) this.#current = { name, secret };
    }
  }

  get currentName(): string | undefined {
    return this.#current?.name;
  }

  /**
   * Encrypts with the current key; undefined if there is none. The nonce is random.
   * @param context - what must be the same when it is decrypted
   */
  encrypt(text: Uint8Array, context: string): EncryptedPayload | undefined {
    if (!this.#current) return undefined;
    const { name, secret } = this.#current;
    const nonce = this.#randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(`${name}\n${context}`));
    return new EncryptedPayload(name, Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]));
  }

  /** @throws UnknownBodyForm if there is no such key, DelayQueueError `INVALID_PAYLOAD` if not all is as it was encrypted */
  decrypt({ key, bytes }: EncryptedPayload, context: string): Buffer {
    const secret = this.#secrets.get(key);
    if (!secret) throw missingKey(key);
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(`${key}\n${context}`));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      // The reason is of no use: a wrong tag, or too few bytes.
      throw new DelayQueueError(
        'INVALID_PAYLOAD',
        `body: it is not as key '${key}' has encrypted it: somebody has changed it`,
      );
    }
  }
}

/** Distinguishes keys. It is public; nothing about the key follows from it. */
function fingerprintOf(secret: KeyObject): string {
  return createHmac('sha256', secret)
    .update('nestjs-delay-queue:key')
    .digest('hex')
    .slice(0, 2 * FINGERPRINT_BYTES);
}
