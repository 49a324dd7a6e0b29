import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { Queue } from '../runtime/queues.js';
import type { MessageBody, MessageCodec } from '../codec/message-codec.js';
import type { DelayedValues } from '../store/message-store.js';
import { readContent, readPayload } from '../codec/read-content.js';

/**
 * The delayed messages of a queue with `layout: 'redisson'` by their payloads, whoever offered them: the operations of Redisson's
 * `RDelayedQueue`. `DelayQueueProducer.redisson` gives it.
 *
 * A payload that the queue's codec cannot read is shown as its bytes. Payloads are compared by their encoded bytes. `contains` and `remove` look through the delayed messages, so their cost grows
 * with the queue; `cancel` by id does not.
 */
export class RedissonQueue {
  readonly #queue: Queue;
  readonly #values: DelayedValues;

  /** @internal */
  constructor(queue: Queue) {
    const { delayedValues } = queue.store;
    if (!delayedValues) throw unsupported(queue);
    this.#queue = queue;
    this.#values = delayedValues;
  }

  /** How many messages are delayed. */
  size(): Promise<number> {
    return this.#values.count();
  }

  /** Whether a message with this payload is delayed. */
  async contains(payload: unknown): Promise<boolean> {
    return this.#values.contains(this.#encode(payload));
  }

  /**
   * Takes back a delayed message with this payload. Of equal ones any may be meant.
   *
   * @returns whether there was one
   */
  async remove(payload: unknown): Promise<boolean> {
    return this.#values.remove(this.#encode(payload));
  }

  /** The payloads of all delayed messages, in the order of their offers, in one answer: mind its size. */
  async readAll<T = unknown>(): Promise<T[]> {
    return (await this.#values.list()).map((value) => readContent<T>(this.#codec, value).payload);
  }

  /** The payload of the delayed message that was offered first, not of the one that falls due first; null: none is delayed. */
  async peek<T = unknown>(): Promise<T | null> {
    const [first] = await this.#values.list({ limit: 1 });
    return first ? readPayload<T>(this.#codec, first) : null;
  }

  /** Takes the delayed message that was offered first, due or not, and returns its payload; null: none is delayed. */
  async poll<T = unknown>(): Promise<T | null> {
    const first = await this.#values.takeFirst();
    return first ? readPayload<T>(this.#codec, first) : null;
  }

  get #codec(): MessageCodec {
    return this.#queue.codec;
  }

  #encode(payload: unknown): MessageBody {
    return this.#codec.encode({ payload, headers: {} });
  }
}

function unsupported({ name, options: { layout } }: Queue): DelayQueueError {
  const reason =
    layout === 'redisson'
      ? "store 'memory' keeps no payloads to compare with. Use a Redis"
      : "only layout 'redisson' keeps messages by their payloads. Use their ids: find, cancel";
  return new DelayQueueError('UNSUPPORTED_BY_LAYOUT', `Queue '${name}' cannot be read by payload: ${reason}`);
}
