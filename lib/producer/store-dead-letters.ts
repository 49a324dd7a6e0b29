import { assertMessageId } from '../message/message-id.js';
import type { DeadLetter } from '../message/message.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { MessageStore } from '../store/message-store.js';
import { lookUp, withAll } from '../store/partitioned/partitions.js';
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
    const { messages, ...page } = await this.queue.store.list({ state: 'dead', ...(from && { from }), limit });
    return { ...page, letters: messages.map((message) => letterOf<T>(this.queue, message)) };
  }

  async redrive(id: string): Promise<boolean> {
    assertMessageId(id);
    return this.#forOne(id, (partition) => this.#redrive(partition, { id }));
  }

  redriveAll(): Promise<number> {
    return this.#forAll((partition, selection) => this.#redrive(partition, selection));
  }

  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return this.#forOne(id, (partition) => partition.discard({ id }));
  }

  discardAll(): Promise<number> {
    return this.#forAll((partition, selection) => partition.discard(selection));
  }

  /** The queue may have been empty but for its dead letters, and so have been forgotten. */
  async #redrive(partition: MessageStore, selection: DeadSelection): Promise<number> {
    const registered = this.registrar.register(this.queue.name);
    const redriven = await partition.redrive(selection);
    if (registered) await registered;
    return redriven;
  }

  async #forOne(id: string, ask: (partition: MessageStore) => Promise<number>): Promise<boolean> {
    return (await lookUp(this.queue.partitions, id, { ask, isFound: (changed) => changed > 0 })) > 0;
  }

  async #forAll(apply: Apply): Promise<number> {
    let done = 0;
    const forAll = async (partition: MessageStore) => {
      const changed = await forAllOf(partition, apply);
      done += changed;
    };
    await withAll(this.queue.partitions, (partitions) => Promise.all(partitions.map(forAll)));
    return done;
  }
}

type Apply = (partition: MessageStore, selection: DeadSelection) => Promise<number>;

/** Oldest first, and no more than there were at the start, so messages that become dead letters meanwhile are left alone. */
async function forAllOf(partition: MessageStore, apply: Apply): Promise<number> {
  const { counts } = await partition.status();
  let done = 0;
  while (done < counts.dead) {
    const changed = await apply(partition, { oldest: Math.min(MAX_BATCH, counts.dead - done) });
    if (changed === 0) break;
    done += changed;
  }
  return done;
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
