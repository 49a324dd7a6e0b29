import { assertMessageId } from '../message/message-id.js';
import type { MessageFailure } from '../message/message.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { DeadSelection } from '../store/message-upkeep.js';
import { MAX_BATCH } from '../timing/turn-batcher.js';
import type { DeadLetterPage, DeadLetterQuery, DeadLetters } from './dead-letters.js';
import { readContent } from '../codec/read-content.js';
import { readPage } from './read-page.js';

/** The dead letters in the store of a queue. */
export class StoreDeadLetters implements DeadLetters {
  constructor(
    private readonly queue: Queue,
    private readonly registrar: QueueRegistrar,
  ) {}

  async list<T = unknown>(query?: DeadLetterQuery): Promise<DeadLetterPage<T>> {
    const { cursor, limit } = readPage(query);
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
    return (await this.#redrive({ id })) === 1;
  }

  redriveAll(): Promise<number> {
    return this.#forAll((selection) => this.#redrive(selection));
  }

  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.queue.store.discard({ id })) === 1;
  }

  discardAll(): Promise<number> {
    return this.#forAll((selection) => this.queue.store.discard(selection));
  }

  /** The queue may have been empty but for its dead letters, and so have been forgotten. */
  async #redrive(selection: DeadSelection): Promise<number> {
    const registered = this.registrar.register(this.queue.name);
    const redriven = await this.queue.store.redrive(selection);
    if (registered) await registered;
    return redriven;
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
