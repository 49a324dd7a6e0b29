/**
 * The delayed messages of a queue with the layout `redisson()` by their payloads, no matter who offered them: the operations of Redisson's
 * `RDelayedQueue`. Returned by `redissonQueue`.
 *
 * A payload that the queue's codec cannot read is returned as its bytes. Payloads are compared by their encoded bytes. `contains` and
 * `remove` search the delayed messages, so their cost grows with the queue; the cost of `cancel` by id does not.
 */
export interface RedissonQueue {
  /** Counts the delayed messages. */
  size(): Promise<number>;

  /**
   * Tells whether a message with this payload is delayed.
   * @throws DelayQueueError `INVALID_PAYLOAD` if the queue's codec cannot encode the payload
   */
  contains(payload: unknown): Promise<boolean>;

  /**
   * Removes a delayed message with this payload. If several have it, any one of them is removed.
   * @returns whether there was one
   * @throws DelayQueueError `INVALID_PAYLOAD` if the queue's codec cannot encode the payload
   */
  remove(payload: unknown): Promise<boolean>;

  /** Reads the payloads of all delayed messages, in the order of their offers. They come in one reply, so mind its size. */
  readAll<T = unknown>(): Promise<T[]>;

  /** Reads the payload of the delayed message that was offered first, not of the one due first; null if none is delayed. */
  peek<T = unknown>(): Promise<T | null>;

  /** Removes the delayed message that was offered first, due or not, and returns its payload; null if none is delayed. */
  poll<T = unknown>(): Promise<T | null>;
}
