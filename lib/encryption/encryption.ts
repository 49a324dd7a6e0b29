import type { QueueEncryption } from '../message/encryption.js';
import { EncryptionKeys } from './encryption-keys.js';
import { encryptingCodec } from './encrypting-codec.js';
import { type EncryptionOptions, readOptions } from './encryption-options.js';

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
