import { assertMessageId } from '../message/message-id.js';
import type { DeadLetter } from '../message/message.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { DeadSelection, StoredMessage } from '../store/message-upkeep.js';
import { MAX_BATCH } from '../timing/turn-batcher.js';
import type { DeadLetterPage, DeadLetterQuery, DeadLetters } from './dead-letters.js';
import { readPage } from './read-page.js';
import { snapshotOf } from './snapshot.js';

/** The dead letters in the store of a queue. */
export class StoreDeadLetters implements DeadLetters {
  constructor(
    private readonly queue: Queue,
    private readonly registrar: QueueRegistrar,
  ) {}

  async list<T = unknown>(query?: DeadLetterQuery): Promise<DeadLetterPage<T>> {
    const { cursor, limit } = readPage(query);
    const from = cursor === undefined ? undefined : { cursor };
    const page = await this.queue.store.list({ state: 'dead', ...(from && { from }), limit });
    return { letters: page.messages.map((message) => letterOf<T>(this.queue, message)), cursor: page.cursor };
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

function letterOf<T>(queue: Queue, message: StoredMessage): DeadLetter<T> {
  const { id, type, payload, headers, ...snapshot } = snapshotOf<T>(queue, message);
  const { failedAttempts, dueAt, offeredAt, diedAt, error } = snapshot;
  return {
    queue: queue.name,
    id,
    type,
    payload,
    headers,
    failedAttempts,
    dueAt,
    offeredAt,
    diedAt: diedAt!,
    error: error!,
  };
}
