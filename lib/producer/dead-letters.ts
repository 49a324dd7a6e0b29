import type { DeadLetter } from '../message/message.js';

/** Which dead letters to list. */
export interface DeadLetterQuery {
  /** The `cursor` of the page before. Default: the first page. */
  readonly cursor?: string;
  /** The most letters, 1–1000. Default 100. */
  readonly limit?: number;
}

/** Some dead letters, oldest first. */
export interface DeadLetterPage<T = unknown> {
  /** Oldest first. */
  readonly letters: readonly DeadLetter<T>[];
  /** For the next page; null: this was the last one. */
  readonly cursor: string | null;
}

/** The dead letters of one queue, as `DelayQueueProducer.deadLetters` gives them. */
export interface DeadLetters {
  /**
   * Lists dead letters, oldest first.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT`
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
  list<T = unknown>(query?: DeadLetterQuery): Promise<DeadLetterPage<T>>;

  /**
   * Makes a dead letter due now, with all its attempts before it again.
   *
   * @returns whether there was a dead letter of this id
   */
  redrive(id: string): Promise<boolean>;

  /**
   * Redrives all that are dead now; those that die again meanwhile stay dead.
   *
   * @returns how many
   */
  redriveAll(): Promise<number>;

  /**
   * Removes a dead letter for good.
   *
   * @returns whether there was a dead letter of this id
   */
  discard(id: string): Promise<boolean>;

  /**
   * Discards all that are dead now.
   *
   * @returns how many
   */
  discardAll(): Promise<number>;
}
