import { DelayQueueError } from '../message/delay-queue.errors.js';
import { assertMessageId } from '../message/message-id.js';
import type { MessageFailure } from '../message/message.js';
import type { Queue } from '../runtime/queues.js';
import type { DeadSelection } from '../store/message-upkeep.js';
import { MAX_BATCH } from '../timing/turn-batcher.js';
import { showGiven } from '../message/show-given.js';
import type { DeadLetterPage, DeadLetterQuery, DeadLetters } from './dead-letters.js';
import { readContent } from '../codec/read-content.js';
import { readFields } from '../message/read-fields.js';

const QUERY: readonly (keyof DeadLetterQuery)[] = ['cursor', 'limit'];

/** The dead letters in the store of a queue. */
export class StoreDeadLetters implements DeadLetters {
  constructor(private readonly queue: Queue) {}

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
        `cursor must be the \`cursor\` of an earlier page, not ${showGiven(cursor)}`,
      );
    }
    const { name: queue, store, codec } = this.queue;
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

  async redrive(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.queue.store.redrive({ id })) === 1;
  }

  redriveAll(): Promise<number> {
    return this.#forAll((selection) => this.queue.store.redrive(selection));
  }

  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.queue.store.discard({ id })) === 1;
  }

  discardAll(): Promise<number> {
    return this.#forAll((selection) => this.queue.store.discard(selection));
  }

  /** Oldest first, and no more than there were at the start, so messages that become dead letters meanwhile are left alone. */
  async #forAll(apply: (selection: DeadSelection) => Promise<number>): Promise<number> {
    const { counts } = await this.queue.store.status();
    let done = 0;
    while (done < counts.dead) {
      const changed = await apply({ oldest: Math.min(MAX_BATCH, counts.dead - done) });
      if (changed === 0) break;
      done += changed;
    }
    return done;
  }
}
