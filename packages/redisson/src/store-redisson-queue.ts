import { DelayQueueError, type DelayQueueProducer } from 'nestjs-delay-queue';
import {
  type MessageBody,
  type MessageCodec,
  NO_TYPE,
  openQueue,
  type OpenQueue,
  readContent,
  readPayload,
} from 'nestjs-delay-queue/layouts';
import type { RedissonQueue } from './redisson-queue.js';
import { RedissonLayout } from './redisson-layout.js';
import { RedissonMessageStore } from './redisson-store.js';
import type { RedissonValues } from './redisson-values.js';

/**
 * Gives access to the delayed messages of a queue with the layout {@link redisson} by their payloads, as Java's `RDelayedQueue` does.
 * @param producer - the application's producer
 * @param queue - the name of the queue here
 * @throws DelayQueueError `INVALID_ARGUMENT` or, for a queue with another layout or store, `UNSUPPORTED_BY_LAYOUT`, immediately
 * @example
 * ```ts
 * const wasWaiting = await redissonQueue(producer, 'orders').remove({ orderId });
 * ```
 */
export function redissonQueue(producer: DelayQueueProducer, queue: string): RedissonQueue {
  return new StoreRedissonQueue(openQueue(producer, queue));
}

/** The delayed payloads in the store of a queue. */
class StoreRedissonQueue implements RedissonQueue {
  readonly #codec: MessageCodec;
  readonly #values: RedissonValues;

  constructor({ name, layout, codec, store }: OpenQueue) {
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
