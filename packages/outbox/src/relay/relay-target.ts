import type { DelayQueueProducer, EncryptedPayload, MessageHeaders } from 'nestjs-delay-queue';

/** The calls that a relay makes. */
export type RelayedCalls = Pick<DelayQueueProducer, 'offer' | 'offerAt' | 'cancel' | 'reschedule'>;

/** The part of a producer of nestjs-delay-queue for relays. */
export interface RelayTarget {
  /** How long a call may take, ms. */
  readonly offerTimeout: number;
  /** The id of the data that the calls lead to; undefined if it has none and none was proposed. */
  id(proposed?: string): Promise<string | undefined>;
  /** The addresses of the servers, as this process knows them. */
  addresses(): Promise<readonly string[]>;
  /** Calls that take effect before an instant of `performance.now()`, or never. */
  before(notAfter: number): RelayedCalls;
  /** Undefined if the messages of the queue are not encrypted; absent in versions that encrypt none. */
  encryptionOf?(queue: string): RowEncryption | undefined;
}

/** Encrypts what the rows of a queue hold. */
export interface RowEncryption {
  /** Undefined: with no key. */
  encrypt(content: RowContent & { readonly type: string }): EncryptedPayload | undefined;
  decrypt(payload: EncryptedPayload, type: string): RowContent;
}

interface RowContent {
  readonly payload: unknown;
  readonly headers: MessageHeaders;
}

/** Undefined if another object was given as `producer`, whose target is unknown. */
export function targetOf(producer: DelayQueueProducer): RelayTarget | undefined {
  return (producer as { readonly relayTarget?: RelayTarget }).relayTarget;
}
