import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isInstance } from '../message/failure.js';
import type { MessageCodec } from '../message/codec/message-codec.js';
import { DelayQueueProducer } from '../producer/delay-queue-producer.js';
import { PARTS, type QueueParts } from '../producer/queue-methods.js';
import type { Layout } from '../store/layout.js';
import type { MessageStore } from '../store/message-store.js';

/** A queue with one store, as opened by its layout. */
export interface OpenQueue {
  readonly name: string;
  readonly layout: Layout;
  readonly codec: MessageCodec;
  /** The store that the layout has opened, unless the module has the store `'memory'`. */
  readonly store: MessageStore;
}

/** Finds one of the producer's queues, for calls that only its layout offers. @throws DelayQueueError `INVALID_ARGUMENT` */
export function openQueue(producer: DelayQueueProducer, name: string): OpenQueue {
  // Undefined in a test double that extends the class.
  const parts = isInstance(producer, DelayQueueProducer) ? (producer[PARTS] as QueueParts | undefined) : undefined;
  if (!parts) {
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      'producer: must be the DelayQueueProducer that Nest injects, of the same copy of the package',
    );
  }
  const { options, codec, router } = parts.queues.named(name);
  return { name, layout: options.layout, codec, store: router.stores[0]! };
}
