import type { DeadLetter } from '../message/message.js';
import type { MayBeIncomplete } from './queue-counts.js';

/** Which dead letters to list. */
export interface DeadLetterQuery {
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
  /** The maximum number of letters, 1–1000. Default: 100. */
  readonly limit?: number | undefined;
}

/** One page of dead letters. */
export interface DeadLetterPage<T = unknown> extends MayBeIncomplete {
  /** Oldest first. */
  readonly letters: readonly DeadLetter<T>[];
  /** For the next page; null if this is the last one. */
  readonly cursor: string | null;
}

/**
 * The dead letters of one queue, as returned by `DelayQueueProducer.deadLetters`. Its methods reject with the same errors.
 *
 * @typeParam Payload - the type of their payloads, where it is known
 */
export interface DeadLetters<Payload = unknown> {
  /**
   * Lists dead letters, oldest first.
   *
   * @param query - `cursor` and `limit` (1–1000, default 100)
   * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor or a limit out of range
   *
   * @example
   * ```ts
   * let cursor: string | undefined;
   * do {
   *   const page = await producer.deadLetters('orders').list({ cursor });
   *   for (const letter of page.letters) console.log(letter.id, letter.error.message);
   *   cursor = page.cursor ?? undefined;
   * } while (cursor);
   * ```
   */
  list<T = Payload>(query?: DeadLetterQuery): Promise<DeadLetterPage<T>>;

  /**
   * Makes a dead letter due now, with all its attempts restored.
   *
   * @param id - the message's id
   * @returns whether there was a dead letter with this id
   *
   * @example
   * ```ts
   * const isBack = await producer.deadLetters('orders').redrive(`unpaid:${orderId}`);
   * ```
   */
  redrive(id: string): Promise<boolean>;

  /**
   * Redrives all letters that are dead now; those that become dead again meanwhile stay dead.
   *
   * @returns how many were redriven
   */
  redriveAll(): Promise<number>;

  /**
   * Removes a dead letter for good.
   *
   * @param id - the message's id
   * @returns whether there was a dead letter with this id
   */
  discard(id: string): Promise<boolean>;

  /**
   * Discards all letters that are dead now.
   *
   * @returns how many were removed
   */
  discardAll(): Promise<number>;
}
