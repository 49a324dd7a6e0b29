import { Inject, Injectable } from '@nestjs/common';
import type { EncryptedPayload } from '../message/codec/encrypted-payload.js';
import type { MessageContent } from '../message/codec/message-codec.js';
import { nativeCodec } from '../message/codec/native-codec.js';
import { dueAt, type DueTime, type Duration, readDelay } from '../message/duration.js';
import { assertMessageId } from '../message/message-id.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Stores } from '../runtime/create-stores.js';
import { RESOLVED_OPTIONS, STORES } from '../runtime/delay-queue-tokens.js';
import type { MessageChange } from './changes.js';
import { type OfferOptions, type OfferResult, readOfferOptions } from './offer.js';
import { QueueParts } from './queue-methods.js';

/** Serves relays such as nestjs-delay-queue-outbox: makes calls that take effect in time or never, and identifies the database. */
@Injectable()
export class RelayTarget {
  @Inject() private readonly parts!: QueueParts;
  @Inject(STORES) private readonly stores!: Stores;
  @Inject(RESOLVED_OPTIONS) private readonly options!: Pick<ResolvedModuleOptions, 'offerTimeout'>;

  /** How long a call may take, ms. */
  get offerTimeout(): number {
    return this.options.offerTimeout;
  }

  /**
   * Returns the id of the database and prefix, setting it to `proposed` if there is none. It is kept in the database, so it does not depend
   * on the address, and is lost with the data.
   * @returns undefined if there is none and none was proposed
   */
  async id(proposed = ''): Promise<string | undefined> {
    return (await this.stores.directory.place(proposed)) || undefined;
  }

  /** Returns the servers' addresses as this process knows them, each with database and prefix, for use if there is no id. */
  addresses(): Promise<readonly string[]> {
    return this.stores.addresses();
  }

  /**
   * Encrypts and decrypts what rows hold until they are relayed, with the keys of a queue. What it encrypts is a payload for `offer`, which
   * stores it as it is.
   * @returns undefined if the queue's messages are not encrypted
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  encryptionOf(queue: string): RowEncryption | undefined {
    const { codec, options } = this.parts.queues.named(queue);
    if (!options.encryption) return undefined;
    return {
      encrypt: (content) => codec.show!(Buffer.from(codec.encode(content) as string))?.payload as EncryptedPayload,
      decrypt: (payload, type) =>
        codec.decode(Buffer.from(nativeCodec.encode({ type, payload, headers: {} }) as string)),
    };
  }

  /**
   * Returns calls that take effect before a given time or never. After that time, the server refuses them, even if this process stalls.
   * @param notAfter - a time by `performance.now()`
   */
  before(notAfter: number): RelayedCalls {
    const { offers, changes, queues } = this.parts;
    const offer = (queue: string, payload: unknown, due: DueTime, given?: OfferOptions) => {
      const options = readOfferOptions(given);
      const message = { payload, due, options: { ...options, special: { ...options.special, notAfter } } };
      return offers.offer(queues.named(queue), message);
    };
    return {
      offer: async (queue, payload, delay, options) => offer(queue, payload, { after: readDelay(delay) }, options),
      offerAt: async (queue, payload, date, options) => offer(queue, payload, dueAt(date), options),
      cancel: async (queue, id) => {
        const { router } = queues.named(queue);
        assertMessageId(id);
        return router.lookUp(id, (store) => store.cancel(id, notAfter));
      },
      reschedule: async (queue, id, due, change) =>
        changes.reschedule(queues.named(queue), { id, due, change, notAfter }),
    };
  }
}

/** Encrypts what rows hold with the keys of a queue. */
export interface RowEncryption {
  /** Returns undefined if the queue has no current key. @throws DelayQueueError `INVALID_PAYLOAD` */
  encrypt(content: RowContent & Pick<MessageContent, 'type'>): EncryptedPayload | undefined;
  /** @throws DelayQueueError `INVALID_PAYLOAD` if it was changed, or is encrypted with a key that this process does not have */
  decrypt(payload: EncryptedPayload, type: string): RowContent;
}

type RowContent = Pick<MessageContent, 'payload' | 'headers'>;

export interface RelayedCalls {
  offer(queue: string, payload: unknown, delay: Duration, options?: OfferOptions): Promise<OfferResult>;
  offerAt(queue: string, payload: unknown, date: Date, options?: OfferOptions): Promise<OfferResult>;
  cancel(queue: string, id: string): Promise<boolean>;
  reschedule(queue: string, id: string, due: Duration | Date, change?: MessageChange): Promise<boolean>;
}
