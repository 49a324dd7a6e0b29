import { assertMessageId } from '../message/message-id.js';
import type { MessagePage, MessageQuery } from '../message/page.js';
import type { DeadLetter } from '../message/message.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { MessageStore } from '../store/message-store.js';
import type { DeadSelection } from '../store/admin-store.js';
import { writeAll } from '../store/write-all.js';
import { MAX_BATCH } from '../timing/turn-batcher.js';
import { listMessages } from './queue-views.js';

/**
 * The dead letters of one queue, as returned by `DelayQueueProducer.deadLetters`. Its methods reject with the same errors.
 *
 * @typeParam Letter - what a dead letter looks like
 */
export interface DeadLetters<Letter = DeadLetter> {
  /**
   * Lists dead letters, oldest first: the page that `list(queue, 'dead', query)` returns.
   *
   * @param query - `cursor` of the page before, or `offset` (0 or more) to begin in the middle; `limit` (1–1000, default 100)
   * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor, or a number out of range
   *
   * @example
   * ```ts
   * let cursor: string | undefined;
   * do {
   *   const page = await producer.deadLetters('orders').list({ cursor });
   *   for (const letter of page.messages) console.log(letter.id, letter.error.message);
   *   cursor = page.cursor ?? undefined;
   * } while (cursor);
   * ```
   */
  list(query?: MessageQuery): Promise<MessagePage<Letter>>;

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

/** The dead letters in the store of a queue. */
export class StoreDeadLetters<Letter extends DeadLetter> implements DeadLetters<Letter> {
  constructor(
    private readonly queue: Queue,
    private readonly registrar: QueueRegistrar,
  ) {}

  list(query?: MessageQuery): Promise<MessagePage<Letter>> {
    return listMessages(this.queue, 'dead', query);
  }

  async redrive(id: string): Promise<boolean> {
    assertMessageId(id);
    return this.#forOne(id, (store) => this.#redrive(store, { id }));
  }

  redriveAll(): Promise<number> {
    return this.#forAll('redriveAll', (store, selection) => this.#redrive(store, selection));
  }

  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return this.#forOne(id, (store) => this.#discard(store, { id }));
  }

  discardAll(): Promise<number> {
    return this.#forAll('discardAll', (store, selection) => this.#discard(store, selection));
  }

  /** The queue may have been empty but for its dead letters, and so have been forgotten. */
  async #redrive(store: MessageStore, selection: DeadSelection): Promise<number> {
    const registered = this.registrar.register(this.queue.name);
    const redriven = await store.redrive(selection, { unwrap: this.queue.options.layout.can.expiry });
    if (registered) await registered;
    return redriven;
  }

  /** A family that has forgotten the queue but for its dead letters looks at it once more, and then forgets its name, too. */
  async #discard(store: MessageStore, selection: DeadSelection): Promise<number> {
    const discarded = await store.discard(selection);
    if (discarded > 0) void this.registrar.register(this.queue.name);
    return discarded;
  }

  async #forOne(id: string, ask: (store: MessageStore) => Promise<number>): Promise<boolean> {
    return (await this.queue.router.lookUp(id, { ask, isFound: (changed) => changed > 0 })) > 0;
  }

  /** Oldest first, and no more than there were at the start, so messages that become dead letters meanwhile are left alone. */
  #forAll(what: string, apply: Apply): Promise<number> {
    return writeAll(this.queue.router, what, async (store, note) => {
      const { counts } = await store.status();
      for (let left = counts.dead; left > 0;) {
        const changed = await apply(store, { oldest: Math.min(MAX_BATCH, left) });
        if (changed === 0) return;
        note(changed);
        left -= changed;
      }
    });
  }
}

type Apply = (store: MessageStore, selection: DeadSelection) => Promise<number>;
