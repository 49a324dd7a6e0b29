import { DelayQueueError } from '../message/delay-queue-errors.js';
import { type CheckedDue, type DueTime, type Duration, readDue } from '../message/duration.js';
import { assertGroupConcurrency } from '../message/group-concurrency.js';
import type { MessageCounts, MessageSnapshot, MessageState } from '../message/message.js';
import { assertState, type MessagePage, type PageQuery, readPage } from '../message/page.js';
import type { GroupMember, GroupPage, StoredMessage } from '../store/admin-store.js';
import type { GroupRules, MessageStore } from '../store/message-store.js';
import { ChangeTally } from '../store/write-all.js';

/**
 * The messages of one group, from `DelayQueueProducer.group`. Methods reject with the same errors as the producer's. They walk through all
 * messages of the queue that have groups, about 1000 per step, and may miss those offered during the walk. Each step sees one instant.
 * @typeParam Snapshot - the type of a message
 */
export interface MessageGroup<Snapshot = MessageSnapshot> {
  /**
   * Cancels the group's messages that are not due yet. Returns how many.
   * @example
   * ```ts
   * const cancelled = await producer.group('reminders', `customer-${userId}`).cancelAll();
   * ```
   */
  cancelAll(): Promise<number>;

  /**
   * Changes the due time of the group's messages that are not due yet. Returns how many.
   * @param due - a delay from now, 0 ms – 100 years, or a `Date` between 1970 and 9999; by Redis' clock
   */
  rescheduleAll<const Due extends Duration | Date = Duration | Date>(due: CheckedDue<Due>): Promise<number>;

  /** Makes the group's dead letters due now, with all their attempts restored. Returns how many. */
  redriveAll(): Promise<number>;

  /** Counts the group's messages in each state. */
  counts(): Promise<MessageCounts>;

  /**
   * Lists the group's messages in one state, in no particular order. A message that stays in that state is listed at least once.
   * @param query - `cursor` from the previous page; `limit` (1–1000, default 100)
   */
  list(state: MessageState, query?: PageQuery): Promise<MessagePage<Snapshot>>;

  /**
   * Pauses the group in all processes until {@link resume}: running handlers finish, and due messages wait in order, without a permit, so
   * other groups are not held up. A pause needs no messages, and lasts if the queue is cleared.
   * @example
   * ```ts
   * await producer.group('mails', 'acme').pause();
   * ```
   */
  pause(): Promise<void>;

  /** Resumes the group after {@link pause}. */
  resume(): Promise<void>;

  /**
   * Sets how many messages of the group all processes together handle at once, in place of the `concurrency` of the queue's groups. If more
   * have permits, such as messages that wait for the rate of their group, they keep them, and the next one starts once fewer do.
   * @param concurrency - 1–1,000,000, `'unlimited'`, or `'default'` for that of the queue's groups; 1–1000 if the queue's groups have a
   *   `rate`
   * @throws DelayQueueError `INVALID_ARGUMENT`
   * @example
   * ```ts
   * await producer.group('mails', 'acme').setConcurrency(3);
   * ```
   */
  setConcurrency(concurrency: number | 'unlimited' | 'default'): Promise<void>;
}

interface GroupedQueue<Snapshot> {
  /** The store that holds the messages with groups. */
  readonly store: MessageStore;
  readonly rules: GroupRules;
  readonly canExpire: boolean;
  /** Registers the queue, which may have been forgotten. Call it before returning messages, and await the promise if it returns one. */
  readonly register: () => Promise<void> | undefined;
  readonly show: (message: StoredMessage) => Snapshot;
}

export class StoredGroup<Snapshot> implements MessageGroup<Snapshot> {
  constructor(
    private readonly queue: GroupedQueue<Snapshot>,
    private readonly group: string,
  ) {}

  cancelAll(): Promise<number> {
    return this.#forEach('cancelAll', 'delayed', (id) => this.queue.store.cancel(id));
  }

  async rescheduleAll<const Due extends Duration | Date = Duration | Date>(due: CheckedDue<Due>): Promise<number> {
    const dueTime: DueTime = readDue(due);
    return this.#forEach('rescheduleAll', 'delayed', (id) => this.queue.store.reschedule(id, dueTime));
  }

  async redriveAll(): Promise<number> {
    const registered = this.queue.register();
    const redriven = await this.#forEach('redriveAll', 'dead', async (id) => {
      return (await this.queue.store.redrive({ id }, { unwrap: this.queue.canExpire })) > 0;
    });
    if (registered) await registered;
    return redriven;
  }

  async counts(): Promise<MessageCounts> {
    const counts = { delayed: 0, ready: 0, active: 0, dead: 0 };
    for await (const members of this.#pages()) for (const { state } of members) counts[state]++;
    return counts;
  }

  async list(state: MessageState, query?: PageQuery): Promise<MessagePage<Snapshot>> {
    assertState(state);
    const { cursor, limit } = readPage(query);
    let { step, last } = readCursor(cursor);
    const messages: Snapshot[] = [];
    for (;;) {
      // A page ends in the middle of a step only if even the smallest step has more messages than the page may hold.
      const most = last === '' ? limit - messages.length : 0;
      const page = await this.queue.store.listGroup!({ group: this.group, cursor: step, most });
      const ids = idsBehind(last, state, page);
      if (messages.length > 0 && messages.length + ids.length > limit) return { messages, cursor: `${step}:` };
      for (const id of ids) {
        if (messages.length === limit) return { messages, cursor: `${step}:${last}` };
        const found = await this.queue.store.find(id);
        if (found?.state === state) messages.push(this.queue.show(found));
        last = id;
      }
      if (page.cursor === null) return { messages, cursor: null };
      if (messages.length === limit) return { messages, cursor: `${page.cursor}:` };
      [step, last] = [page.cursor, ''];
    }
  }

  pause(): Promise<void> {
    return this.queue.store.setGroup!(this.group, { paused: true });
  }

  resume(): Promise<void> {
    return this.queue.store.setGroup!(this.group, { paused: false });
  }

  async setConcurrency(concurrency: number | 'unlimited' | 'default'): Promise<void> {
    assertGroupConcurrency(concurrency, this.queue.rules);
    await this.queue.store.setGroup!(this.group, { concurrency });
  }

  /** Changes messages in one state. Stops after a failure other than an unconfirmed replication. */
  async #forEach(what: string, state: MessageState, change: (id: string) => Promise<boolean>): Promise<number> {
    const tally = new ChangeTally();
    try {
      for await (const members of this.#pages()) {
        const ids = members.filter((each) => each.state === state).map(({ id }) => id);
        await tally.change(ids, change);
        if (tally.mustStop) break;
      }
    } catch (error) {
      tally.fail('the search for the others', error);
    }
    tally.throwIfFailed(what);
    return tally.changed;
  }

  async *#pages(): AsyncGenerator<readonly GroupMember[]> {
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: GroupPage = await this.queue.store.listGroup!({ group: this.group, cursor });
      yield page.members;
      cursor = page.cursor;
    }
  }
}

/** Returns the sorted ids of a step's messages that are in `state` and whose ids come after `last`. */
function idsBehind(last: string, state: MessageState, { members }: GroupPage): string[] {
  const wanted = members.filter((each) => each.state === state && each.id > last);
  return wanted.map(({ id }) => id).sort();
}

/** Reads a cursor: the step in which a page ended, and the id of the page's last message. */
function readCursor(cursor = ':'): { step: string; last: string } {
  const [, step, last] = /^(\d*):([^]*)$/.exec(cursor) ?? [];
  if (step !== undefined && last !== undefined) return { step, last };
  throw new DelayQueueError('INVALID_ARGUMENT', 'cursor: must be the `cursor` of an earlier page of this group');
}
