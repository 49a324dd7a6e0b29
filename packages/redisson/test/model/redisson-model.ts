import type { MessageState } from '../../../../lib/message/message.js';
import type { Offer } from '../../../../lib/store/producer-store.js';
import { Instant, type Moment } from '../../../../test/model/instant.js';
import type { NativeContent } from '../../../../test/model/native-keys.invariant.js';
import { type ModelMessage, QueueModel } from '../../../../test/model/queue-model.js';
import { ReadyList } from '../../../../test/model/ready-list.js';

/** A message of Java has no id until a claim takes it; until then the model uses one that no store generates. */
const NAMELESS = 'java ';
const GIVEN_ID = /^[0-9a-f]{14}$/;
/** Java's entries have random ids, which come after our numbered ones within one millisecond. */
const AFTER_OURS = 1e9;
/** The number of entries that Java transfers at a time. */
const JAVA_BATCH = 100;

/** How Redisson's layout differs, and what Java does to the same queue. */
export class RedissonQueueModel extends QueueModel {
  override readonly readyList = new RedissonReadyList();
  /** Ids offered here that Java took, and that may not be forgotten yet. */
  readonly takenByJava = new Set<string>();
  #entries = 0;

  override get findable(): string[] {
    return super.findable.filter((id) => !isNameless(id));
  }

  /** Entries of the same millisecond have no order that is known here, and Java's have no ids. */
  override listed(state: MessageState): ModelMessage[] | undefined {
    return state === 'delayed' ? undefined : super.listed(state);
  }

  /** Values of the target list have no due time. */
  override get nextReady(): ModelMessage[] {
    return super.nextReady.filter((message) => !isEntry(message));
  }

  /** Numbers the offers; an id that is offered again in the same call keeps its number. */
  override offer(offers: readonly Offer[], at: Moment) {
    const receipts = super.offer(offers, at);
    const entries = new Map<string, number>();
    receipts.forEach(({ outcome }, index) => {
      const { id } = offers[index]!;
      if (outcome !== 'created' && outcome !== 'replaced') return;
      this.takenByJava.delete(id);
      if (!entries.has(id)) entries.set(id, ++this.#entries);
      this.messages.get(id)!.entry = entries.get(id);
    });
    return receipts;
  }

  /** A transfer's limit applies both to Redisson's sorted set and to messages that were claimed before. */
  protected override structures(delayed: readonly ModelMessage[]): ModelMessage[][] {
    return [delayed.filter(isEntry), delayed.filter((message) => !isEntry(message))];
  }

  override identify(ids: readonly string[], at: Moment): void {
    const adopted = this.readyList.adopted(ids.length);
    const given = ids.slice(ids.length - adopted.length);
    for (const [index, nameless] of adopted.entries()) {
      const id = given[index]!;
      if (!isNameless(nameless) || !GIVEN_ID.test(id)) continue;
      this.messages.set(id, { ...this.messages.get(nameless)!, id, offered: Instant.at(at), due: Instant.at(at) });
      this.messages.delete(nameless);
      this.readyList.rename(nameless, id);
    }
  }

  offerAsJava(due: number): { readonly body: string; readonly entry: number } {
    const entry = ++this.#entries + AFTER_OURS;
    const id = `${NAMELESS}${entry}`;
    const body = `J"${id}"`;
    const instant = new Instant(due);
    this.messages.set(id, { id, body, offered: instant, due: instant, state: 'delayed', failedAttempts: 0, entry });
    return { body, entry };
  }

  transferAsJava(now: number): void {
    const [entries] = this.structures(this.in('delayed').filter(({ due }) => due.exact <= now));
    const moved = entries!.slice(0, JAVA_BATCH);
    for (const message of moved) message.state = 'ready';
    this.readyList.add(moved, []);
  }

  /** @returns the body, or null if the target list is empty */
  takeAsJava(): string | null {
    const [id] = this.readyList.target;
    if (id === undefined) return null;
    const { body } = this.messages.get(id)!;
    this.#goToJava(id);
    return body;
  }

  /** @returns whether it was delayed and never claimed */
  removeAsJava(body: string): boolean {
    const found = this.entries().find((message) => message.body === body);
    if (found) this.#goToJava(found.id);
    return found !== undefined;
  }

  /** What only the native bookkeeping holds. */
  get kept(): NativeContent {
    const isKept = (message: ModelMessage) => !isEntry(message);
    return {
      messages: new Map([...this.messages].filter(([, message]) => isKept(message))),
      followers: this.followers,
      in: (state) => this.in(state).filter(isKept),
      readyList: this.readyList.kept,
      paused: this.paused,
      wakeSignal: this.wakeSignal,
    };
  }

  /** The delayed messages that were never claimed, in offer order. */
  entries(): ModelMessage[] {
    return this.in('delayed')
      .filter(isEntry)
      .sort((a, b) => (a.entry! % AFTER_OURS) - (b.entry! % AFTER_OURS));
  }

  #goToJava(id: string): void {
    this.takenByJava.add(id);
    this.remove(id);
  }
}

/** True if the message was never claimed. */
export function isEntry({ entry }: Pick<ModelMessage, 'entry'>): boolean {
  return entry !== undefined;
}

export function isNameless(id: string): boolean {
  return id.startsWith(NAMELESS);
}

/** The native list of ready messages, then Redisson's target list. */
class RedissonReadyList {
  readonly kept = new ReadyList();
  target: string[] = [];

  get length(): number {
    return this.kept.length + this.target.length;
  }

  add(due: readonly Pick<ModelMessage, 'id' | 'entry'>[], recovered: readonly { id: string }[]): void {
    this.target.push(...due.filter(isEntry).map(({ id }) => id));
    this.kept.add(
      due.filter((message) => !isEntry(message)),
      recovered,
    );
  }

  addFirst(released: readonly { id: string }[]): void {
    this.kept.addFirst(released);
  }

  remove(id: string): void {
    this.kept.remove(id);
    this.target = this.target.filter((each) => each !== id);
  }

  rename(from: string, to: string): void {
    this.target = this.target.map((id) => (id === from ? to : id));
  }

  /** Returns those of the first `count` ids that come from the target list. */
  adopted(count: number): string[] {
    return this.target.slice(0, Math.max(0, count - this.kept.length));
  }

  mayBeginWith(ids: readonly string[]): boolean {
    const adopted = this.adopted(ids.length);
    const kept = ids.slice(0, ids.length - adopted.length);
    return this.kept.mayBeginWith(kept) && adopted.every((id, index) => id === ids[kept.length + index]);
  }
}
