import { DelayQueueError } from '../message/delay-queue.errors.js';
import { assertMessageId } from '../message/message-id.js';
import type { DeadLetter, MessageFailure } from '../message/message.js';
import type { Queue } from '../runtime/queues.js';
import type { DeadSelection } from '../store/message-store.js';
import { MAX_BATCH } from '../timing/turn-batcher.js';
import { showGiven } from '../message/show-given.js';
import { readContent } from '../codec/read-content.js';
import { readFields } from '../message/read-fields.js';

/** Which dead letters to list. */
export interface DeadLetterQuery {
  /** The `cursor` of the page before. Default: the first page. */
  readonly cursor?: string;
  /** The most letters, 1–1000. Default 100. */
  readonly limit?: number;
}

const QUERY: readonly (keyof DeadLetterQuery)[] = ['cursor', 'limit'];

/** Some dead letters, oldest first. */
export interface DeadLetterPage<T = unknown> {
  /** Oldest first. */
  readonly letters: readonly DeadLetter<T>[];
  /** For the next page; null: this was the last one. */
  readonly cursor: string | null;
}

/** The dead letters of one queue, as `DelayQueueProducer.deadLetters` gives them. */
export class DeadLetters {
  readonly #queue: Queue;

  /** @internal */
  constructor(queue: Queue) {
    this.#queue = queue;
  }

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
  async list<T = unknown>(query?: DeadLetterQuery): Promise<DeadLetterPage<T>> {
    const { cursor, limit = 100 } = query === undefined ? {} : readFields(query, 'query', QUERY);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_BATCH) {
      throw new DelayQueueError(
        'INVALID_ARGUMENT',
        `limit must be a whole number from 1 to ${MAX_BATCH}, not ${showGiven(limit)}`,
      );
    }
    if (cursor !== undefined && typeof cursor !== 'string') {
      throw new DelayQueueError(
        'INVALID_ARGUMENT',
        `cursor must be the \`cursor\` of a page, not ${showGiven(cursor)}`,
      );
    }
    const { name: queue, store, codec } = this.#queue;
    const page = await store.listDead({ cursor, limit });
    const letters = page.letters.map(({ body, error, ...letter }) => ({
      queue,
      id: letter.id,
      ...readContent<T>(codec, body),
      failedAttempts: letter.failedAttempts,
      dueAt: new Date(letter.dueAt),
      offeredAt: new Date(letter.offeredAt),
      diedAt: new Date(letter.diedAt),
      error: JSON.parse(error) as MessageFailure,
    }));
    return { letters, cursor: page.cursor };
  }

  /**
   * Makes a dead letter due now, with all its attempts before it again.
   *
   * @returns whether there was a dead letter of this id
   */
  async redrive(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.#queue.store.redrive({ id })) === 1;
  }

  /**
   * Redrives all that are dead now; those that die again meanwhile stay dead.
   *
   * @returns how many
   */
  redriveAll(): Promise<number> {
    return this.#forAll((selection) => this.#queue.store.redrive(selection));
  }

  /**
   * Removes a dead letter for good.
   *
   * @returns whether there was a dead letter of this id
   */
  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.#queue.store.discard({ id })) === 1;
  }

  /**
   * Discards all that are dead now.
   *
   * @returns how many
   */
  discardAll(): Promise<number> {
    return this.#forAll((selection) => this.#queue.store.discard(selection));
  }

  /** Oldest first and no more than there were at the start, so letters that die meanwhile are left alone. */
  async #forAll(apply: (selection: DeadSelection) => Promise<number>): Promise<number> {
    const { counts } = await this.#queue.store.status();
    let done = 0;
    while (done < counts.dead) {
      const changed = await apply({ oldest: Math.min(MAX_BATCH, counts.dead - done) });
      if (changed === 0) break;
      done += changed;
    }
    return done;
  }
}
