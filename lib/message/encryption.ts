import type { MessageCodec } from './codec/message-codec.js';

/** Keys for a queue's messages, made by `encryption()` of `nestjs-delay-queue/encryption`. */
export interface QueueEncryption {
  /** The id of the key that encrypts; null: messages are written in plain. */
  readonly current: string | null;
}

/** The part of a {@link QueueEncryption} that only this package uses. */
export interface Encryption extends QueueEncryption {
  /** Stands in for the codec of the native layout. */
  readonly codec: MessageCodec;
}

/** True if a user-supplied value was made by `encryption()`. */
export function isEncryption(value: unknown): value is Encryption {
  const { current, codec } = (value ?? {}) as Partial<Encryption>;
  return current !== undefined && typeof codec === 'object';
}
