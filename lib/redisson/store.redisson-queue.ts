import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { Queue } from '../runtime/queues.js';
import type { MessageBody, MessageCodec } from '../codec/message-codec.js';
import { NO_TYPE } from '../message/message-type.js';
import type { DelayedValues } from '../store/message-upkeep.js';
import { readContent, readPayload } from '../codec/read-content.js';
import type { RedissonQueue } from './redisson-queue.js';

/** The delayed payloads in the store of a queue. */
export class StoreRedissonQueue implements RedissonQueue {
  readonly #queue: Queue;
  readonly #values: DelayedValues;

  constructor(queue: Queue) {
    const { delayedValues } = queue.partitions.stores[0]!;
    if (!delayedValues) throw unsupported(queue);
    this.#queue = queue;
    this.#values = delayedValues;
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

  get #codec(): MessageCodec {
    return this.#queue.codec;
  }

  #encode(payload: unknown): MessageBody {
    return this.#codec.encode({ type: NO_TYPE, payload, headers: {} });
  }
}

function unsupported({ name, options: { layout } }: Queue): DelayQueueError {
  const reason =
    layout === 'redisson'
      ? "store 'memory' does not support it; use Redis"
      : "only layout 'redisson' supports it; use the ids instead: find, cancel";
  return new DelayQueueError('UNSUPPORTED_BY_LAYOUT', `Queue '${name}' cannot be accessed by payload: ${reason}`);
}
