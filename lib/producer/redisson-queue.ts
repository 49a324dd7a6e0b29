/**
 * The delayed messages of a queue with `layout: 'redisson'` by their payloads, whoever offered them: the operations of Redisson's
 * `RDelayedQueue`. `DelayQueueProducer.redisson` gives it.
 *
 * A payload that the queue's codec cannot read is shown as its bytes. Payloads are compared by their encoded bytes. `contains`
 * and `remove` look through the delayed messages, so their cost grows with the queue; `cancel` by id does not.
 */
export interface RedissonQueue {
  /** How many messages are delayed. */
  size(): Promise<number>;

  /** Whether a message with this payload is delayed. */
  contains(payload: unknown): Promise<boolean>;

  /**
   * Takes back a delayed message with this payload. Of equal ones any may be meant.
   *
   * @returns whether there was one
   */
  remove(payload: unknown): Promise<boolean>;

  /** The payloads of all delayed messages, in the order of their offers, in one answer: mind its size. */
  readAll<T = unknown>(): Promise<T[]>;

  /** The payload of the delayed message that was offered first, not of the one that falls due first; null: none is delayed. */
  peek<T = unknown>(): Promise<T | null>;

  /** Takes the delayed message that was offered first, due or not, and returns its payload; null: none is delayed. */
  poll<T = unknown>(): Promise<T | null>;
}
