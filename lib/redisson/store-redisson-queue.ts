import type { MessageBody, MessageCodec } from '../message/codec/message-codec.js';
import { readContent, readPayload } from '../message/codec/read-content.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isInstance } from '../message/failure.js';
import { NO_TYPE } from '../message/message-type.js';
import { DelayQueueProducer } from '../producer/delay-queue-producer.js';
import type { Queue, Queues } from '../runtime/queues.js';
import type { RedissonQueue } from './redisson-queue.js';
import { RedissonLayout } from './redisson-layout.js';
import { RedissonMessageStore } from './redisson-store.js';
import type { RedissonValues } from './redisson-values.js';

/**
 * Gives access to the delayed messages of a queue with the layout {@link redisson} by their payloads, as Java's `RDelayedQueue` does.
 *
 * @param producer - the application's producer
 * @param queue - the name of the queue here
 * @throws DelayQueueError `INVALID_ARGUMENT` or, for a queue with another layout or store, `UNSUPPORTED_BY_LAYOUT`, immediately
 *
 * @example
 * ```ts
 * const wasWaiting = await redissonQueue(producer, 'orders').remove({ orderId });
 * ```
 */
export function redissonQueue(producer: DelayQueueProducer, queue: string): RedissonQueue {
  // That of a test double that extends the class is undefined.
  const known = isInstance(producer, DelayQueueProducer) ? (producer.known as Queues | undefined) : undefined;
  if (known) return new StoreRedissonQueue(known.named(queue));
  throw new DelayQueueError(
    'INVALID_ARGUMENT',
    'producer: must be the DelayQueueProducer that Nest injects, of the same copy of the package',
  );
}

/** The delayed payloads in the store of a queue. */
class StoreRedissonQueue implements RedissonQueue {
  readonly #codec: MessageCodec;
  readonly #values: RedissonValues;

  constructor({ name, options: { layout }, codec, router }: Queue) {
    const [store] = router.stores;
    if (!(layout instanceof RedissonLayout)) {
      throw unsupported(name, 'only the layout redisson() supports it; use the ids instead: find, cancel');
    }
    if (!(store instanceof RedissonMessageStore)) {
      throw unsupported(name, "store 'memory' does not support it; use Redis");
    }
    this.#codec = codec;
    this.#values = store.delayedValues;
  }

  size(): Promise<number> {
    return this.#values.count();
  }

  async contains(payload: unknown): Promise<boolean> {
    return this.#values.contains(this.#encode(payload));
  }

  async remove(payload: unknown): Promise<boolean> {
    return this.#values.remove(this.#encode(payload));
  }

  async readAll<T = unknown>(): Promise<T[]> {
    return (await this.#values.list()).map((value) => readContent<T>(this.#codec, value).payload);
  }

  async peek<T = unknown>(): Promise<T | null> {
    const [first] = await this.#values.list({ limit: 1 });
    return first ? readPayload<T>(this.#codec, first) : null;
  }

  async poll<T = unknown>(): Promise<T | null> {
    const first = await this.#values.takeFirst();
    return first ? readPayload<T>(this.#codec, first) : null;
  }

  #encode(payload: unknown): MessageBody {
    return this.#codec.encode({ type: NO_TYPE, payload, headers: {} });
  }
}

function unsupported(queue: string, reason: string): DelayQueueError {
  return new DelayQueueError('UNSUPPORTED_BY_LAYOUT', `Queue '${queue}' cannot be accessed by payload: ${reason}`);
}
