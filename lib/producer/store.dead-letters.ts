import { assertMessageId } from '../message/message-id.js';
import type { DeadLetter } from '../message/message.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import { partitionFor, type Queue } from '../runtime/queues.js';
import type { MessageStore } from '../store/message-store.js';
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
    return (await this.#redrive(partitionFor(this.queue, id), { id })) === 1;
  }

  redriveAll(): Promise<number> {
    return this.#forAll((partition, selection) => this.#redrive(partition, selection));
  }

  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await partitionFor(this.queue, id).discard({ id })) === 1;
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

  async #forAll(apply: Apply): Promise<number> {
    const done = await Promise.all(this.queue.partitions.map((partition) => forAllOf(partition, apply)));
    return done.reduce((sum, changed) => sum + changed);
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
