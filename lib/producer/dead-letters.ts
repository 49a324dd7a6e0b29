import { assertMessageId } from '../message/message-id.js';
import { MAX_BATCH, type MessagePage, type MessageQuery, type PageQuery } from '../message/page.js';
import type { DeadLetter } from '../message/message.js';
import { type DeadLetterErrorPage, listErrors } from '../search/dead-letter-errors.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { MessageStore } from '../store/message-store.js';
import type { DeadSelection } from '../store/admin-store.js';
import { writeAll } from '../store/write-all.js';
import { listMessages } from './queue-views.js';

/** The dead letters of one queue, from `DelayQueueProducer.deadLetters`. Methods reject with the same errors as the producer's. */
export interface DeadLetters<Letter = DeadLetter> {
  /** Lists dead letters, oldest first, like `list(queue, 'dead', query)`. */
  list(query?: MessageQuery): Promise<MessagePage<Letter>>;

  /**
   * Groups dead letters by the name of their error and the first frame of its stack, the most frequent first. A call examines at most about
   * 5,000 dead letters or 4 MiB of them, oldest first; go on until `cursor` is null, and add up what has the same `name` and `frame`.
   * `matching(queue, { state: 'dead', error: { name, frame } })` redrives or discards all of one kind.
   * @param query - `cursor` of the previous page
   * @example
   * ```ts
   * const { errors } = await producer.deadLetters('orders').byError();
   * for (const { name, frame, count } of errors) console.log(count, name, frame);
   * ```
   */
  byError(query?: Pick<PageQuery, 'cursor'>): Promise<DeadLetterErrorPage>;

  /** Makes a dead letter due now, with all its attempts restored. Returns false if there is none with this id. */
  redrive(id: string): Promise<boolean>;

  /** Redrives all messages that are dead letters now, but none that die during the call. Returns how many. */
  redriveAll(): Promise<number>;

  /** Removes a dead letter for good. Returns false if there is none with this id. */
  discard(id: string): Promise<boolean>;

  /** Discards all messages that are dead letters now. Returns how many. */
  discardAll(): Promise<number>;
}

export class StoreDeadLetters<Letter extends DeadLetter> implements DeadLetters<Letter> {
  constructor(
    private readonly queue: Queue,
    private readonly registrar: QueueRegistrar,
  ) {}

  list(query?: MessageQuery): Promise<MessagePage<Letter>> {
    return listMessages(this.queue, 'dead', query);
  }

  byError(query?: Pick<PageQuery, 'cursor'>): Promise<DeadLetterErrorPage> {
    return listErrors(this.queue, query);
  }

  async redrive(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.queue.router.lookUp(id, (store) => this.#redrive(store, { id }))) > 0;
  }

  redriveAll(): Promise<number> {
    return this.#forAll('redriveAll', (store, selection) => this.#redrive(store, selection));
  }

  async discard(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.queue.router.lookUp(id, (store) => this.#discard(store, { id }))) > 0;
  }

  discardAll(): Promise<number> {
    return this.#forAll('discardAll', (store, selection) => this.#discard(store, selection));
  }

  /** Redrives dead letters. Also registers the queue, because its registration may have been removed while it held only dead letters. */
  async #redrive(store: MessageStore, selection: DeadSelection): Promise<number> {
    const registered = this.registrar.register(this.queue.name);
    const redriven = await store.redrive(selection, { unwrap: this.queue.options.layout.can.expiry });
    if (registered) await registered;
    return redriven;
  }

  /** Discards dead letters, then registers the queue, so that a family that kept it only for them checks it again and forgets it. */
  async #discard(store: MessageStore, selection: DeadSelection): Promise<number> {
    const discarded = await store.discard(selection);
    if (discarded > 0) void this.registrar.register(this.queue.name);
    return discarded;
  }

  /** Applies a change to the oldest dead letters first, and only to as many as there were at the start. Later ones stay. */
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
