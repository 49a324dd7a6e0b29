import type { QueueEncryption } from '../message/encryption.js';
import { EncryptionKeys } from './encryption-keys.js';
import { encryptingCodec } from './encrypting-codec.js';
import { readOptions } from './read-options.js';

/** The options of {@link encryption}. */
export interface EncryptionOptions {
  /**
   * The keys by their ids: 32 random bytes each, as bytes or as base64 text. An id has 1–32 of the characters `A–Z a–z 0–9 _ . -`, and is
   * stored with each message. What any of these keys has encrypted can be read.
   */
  readonly keys: Readonly<Record<string, Uint8Array | string>>;
  /**
   * The id of the key that encrypts; null: messages are written in plain, and encrypted ones are still read, such as before the first
   * message is encrypted, or to stop encrypting.
   */
  readonly current: string | null;
  /**
   * What happens to messages that are not encrypted: `'read'` handles them, as is needed while there are any; `'refuse'` makes them dead
   * letters, because anybody who can write to Redis could have made them. Default: `'read'`.
   */
  readonly plain?: 'read' | 'refuse' | undefined;
}

/**
 * Makes the option `encryption` of queues: payloads, headers and the errors of dead letters are encrypted with AES-256-GCM before they leave
 * the process. Ids, types, groups and times stay readable.
 * @throws DelayQueueError `INVALID_OPTION`, which never shows a key
 * @example
 * ```ts
 * DelayQueueModule.forRoot({
 *   defaults: {
 *     encryption: encryption({ current: 'k2', keys: { k1: process.env.QUEUE_KEY_1!, k2: process.env.QUEUE_KEY_2! } }),
 *   },
 * });
 * ```
 */
export function encryption(options: EncryptionOptions): QueueEncryption {
  return encryptionWith(options);
}

/** @param randomBytes - makes nonces. Default: that of Node.js */
export function encryptionWith(options: EncryptionOptions, randomBytes?: (size: number) => Buffer): QueueEncryption {
  const { keys, current, plain } = readOptions(options);
  return new KeyedEncryption(current, encryptingCodec(new EncryptionKeys(keys, current, randomBytes), plain));
}

class KeyedEncryption implements QueueEncryption {
  constructor(
    readonly current: string | null,
    readonly codec: ReturnType<typeof encryptingCodec>,
  ) {}
}
