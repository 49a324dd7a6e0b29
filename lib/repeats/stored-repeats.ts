import { occurrenceIn, unwrapPutOff } from '../message/codec/body-forms.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode } from '../message/failure.js';
import { assertMessageId } from '../message/message-id.js';
import type { MessageSnapshot, MessageState } from '../message/message.js';
import { type PageQuery, readPage } from '../message/page.js';
import { extraIdOf, type RepeatProgress } from '../message/repeat-rule.js';
import type { OfferResult } from '../producer/offer.js';
import { snapshotOf } from '../producer/queue-views.js';
import type { RepeatingMessage, RepeatingMessages } from '../producer/repeating-messages.js';
import type { Queue } from '../runtime/queues.js';
import { Examined } from '../search/examined.js';
import { CheckedFilter } from '../search/message-filter.js';
import { type SearchPage, searchPart } from '../search/search-messages.js';
import type { StoredMessage } from '../store/admin-store.js';
import { wrongCursor } from '../store/page-cursor.js';
import type { Offer, RepeatPause } from '../store/producer-store.js';
import type { Clock } from '../timing/clock.js';
import type { RuleTimes } from './rule-times.js';

/** The states of messages that repeat, in the order in which they are listed. */
const STATES = ['delayed', 'ready', 'active'] as const;

const NEXT_TIMES = 5;

/** The maximum number of tries for a call that others may disturb. */
const MAX_ROUNDS = 10;

interface Parts {
  readonly times: RuleTimes;
  readonly clock: Pick<Clock, 'wall'>;
  /** Offers a message. Returns undefined if its id is in use. */
  readonly offer: (message: Offer) => Promise<OfferResult | undefined>;
}

interface Found {
  readonly body: Buffer;
  readonly message: MessageSnapshot & { readonly repeat: RepeatProgress };
}

export class StoredRepeats implements RepeatingMessages {
  constructor(
    private readonly queue: Queue,
    private readonly parts: Parts,
  ) {}

  async list(page?: PageQuery): Promise<SearchPage<RepeatingMessage>> {
    const { cursor, limit } = readPage(page);
    let [state, from] = readCursor(cursor);
    const { store } = this.queue;
    const show = (message: StoredMessage) => snapshotOf(this.queue, message);
    const messages: RepeatingMessage[] = [];
    const examined = new Examined();
    for (;;) {
      const filter = new CheckedFilter({ state, repeats: true });
      const part = await searchPart({ store, show }, filter, { cursor: from, room: limit - messages.length });
      for (const message of part.messages) if (repeats(message)) messages.push(this.#withTimes(message));
      examined.add(part);
      const next = STATES[STATES.indexOf(state) + 1];
      const end = part.cursor ?? (next ? `${next}:` : null);
      if (end === null || messages.length === limit || examined.isEnough) {
        return { messages, cursor: end, examined: examined.count, ...examined.notes };
      }
      [state, from] = part.cursor === null ? [next!, undefined] : [state, part.cursor];
    }
  }

  async find(id: string): Promise<RepeatingMessage | null> {
    const found = await this.#find(id);
    return found && this.#withTimes(found.message);
  }

  async pause(id: string): Promise<boolean> {
    assertMessageId(id);
    return (await this.#pause(id, {})) !== 'absent';
  }

  async resume(id: string): Promise<boolean> {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const found = await this.#find(id);
      if (!found) return false;
      const { repeat } = found.message;
      if (!repeat.isPaused) return true;
      const at = this.parts.times.nextAfter(repeat, await timeInStore(this.queue, id));
      if (at === null) return !(await this.end(id));
      const outcome = await this.#pause(id, { resume: { at, from: found.body } });
      if (outcome !== 'stale') return outcome !== 'absent';
    }
    const problem = `others kept changing message '${id}'. Nothing was written. Try again`;
    throw new DelayQueueError('OFFER_TIMEOUT', problem, { messageId: id });
  }

  async runNow(id: string): Promise<OfferResult | null> {
    const found = await this.#find(id);
    if (!found) return null;
    const body = occurrenceIn(unwrapPutOff(found.body).body);
    // Somebody else may have run it in the same millisecond.
    for (let at = await timeInStore(this.queue, id); ; at++) {
      const extra = { id: extraIdOf(id, new Date(at)), due: { after: 0 }, onDuplicate: 'reject' as const, body };
      const result = await this.parts.offer(extra);
      if (result) return result;
    }
  }

  async end(id: string): Promise<boolean> {
    if (!(await this.#find(id))) return false;
    return this.queue.router.lookUp(id, (store) => store.cancel(id));
  }

  #pause(id: string, pause: RepeatPause) {
    return this.queue.router.lookUp(
      id,
      (store) => store.pauseRepeat!(id, pause),
      (outcome) => outcome !== 'absent',
    );
  }

  async #find(id: string): Promise<Found | null> {
    assertMessageId(id);
    const found = await this.queue.router.lookUp(id, (store) => store.find(id));
    const message = found && snapshotOf(this.queue, found);
    return message && repeats(message) ? { body: found.body, message } : null;
  }

  #withTimes(message: Found['message']): RepeatingMessage {
    return { ...message, next: message.repeat.isPaused ? [] : this.#timesOf(message) };
  }

  #timesOf({ state, dueAt, repeat }: Found['message']): Date[] {
    const { times, clock } = this.parts;
    const known = state === 'delayed' ? [dueAt] : [];
    const from = known.length > 0 ? dueAt.getTime() : Math.max(dueAt.getTime(), clock.wall());
    // The occurrence that is due next, or under way, counts.
    const rest = { ...repeat, count: (repeat.count ?? 0) + 1 };
    try {
      return [...known, ...times.list(rest, from, NEXT_TIMES - known.length)];
    } catch (error) {
      if (hasCode(error, 'INVALID_OPTION', 'INVALID_ARGUMENT')) return known;
      throw error;
    }
  }
}

/** Returns the time by a message's store, ms: this process's clock may be behind, and would then yield a time that has already passed. */
export async function timeInStore({ router }: Queue, id: string): Promise<number> {
  return (await router.lookUp(id, (store) => store.status())).now;
}

function repeats(message: MessageSnapshot): message is Found['message'] {
  return message.repeat !== undefined && message.state !== 'dead';
}

/** Reads a cursor: that of a search in one state, or a state and a colon, where that state begins. */
function readCursor(cursor: string | undefined): [state: (typeof STATES)[number], cursor: string | undefined] {
  if (cursor === undefined) return [STATES[0], undefined];
  const [, name, place] = /^(\w+):([^]*)$/.exec(cursor) ?? [];
  const state = STATES.find((each) => each === (name as MessageState | undefined));
  if (!state) throw wrongCursor('delayed');
  return [state, place === '' ? undefined : cursor];
}
