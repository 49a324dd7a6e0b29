import type { MessageCounts, MessageState } from '../../message/message.js';
import { groupOf } from '../../message/codec/body-forms.js';
import { bodyType } from '../../message/codec/native-codec.js';
import type { Claim } from '../consumer-store.js';
import type { GroupMember, TypeCount } from '../admin-store.js';
import { RankedList, type Ranked } from './ranked-list.js';

/** A message and its current state. Only the {@link MessageTable} changes it. */
export interface MemoryMessage extends Ranked {
  readonly id: string;
  /** The message's group; empty if it has none. */
  readonly group: string;
  hasPermit: boolean;
  body: Buffer;
  offeredAt: number;
  dueAt: number;
  failedAttempts: number;
  /** The token of the claim that holds the message; null unless active. */
  token: string | null;
  /** The error that ended the message; empty unless dead. */
  error: string;
  state: MessageState;
  /**
   * The message's rank in its state. Delayed: the due time (or when its group's rate allows a claim), with a fraction of a millisecond that
   * keeps messages with groups in the order of their offers. Ready: the position. Active: the end of the lease. Dead: the time of death.
   */
  rank: number;
  /** The message's id; while it is active, its place in the claim. */
  name: string;
}

/** The difference in rank that keeps messages with equal due times in order, as in `scores.lua`. */
const FRACTION = 1 / 4096;

export class MessageTable {
  readonly #byId = new Map<string, MemoryMessage>();
  #byState = emptyLists();
  /** Positions in the ready state: of the next message added at the end, and of the next one added at the start. */
  #readyEnd = 0;
  #readyHead = 0;

  get size(): number {
    return this.#byId.size;
  }

  count(state: MessageState): number {
    return this.#byState[state].size;
  }

  counts(): MessageCounts {
    return {
      delayed: this.count('delayed'),
      ready: this.count('ready'),
      active: this.count('active'),
      dead: this.count('dead'),
    };
  }

  countTypes(): TypeCount[] {
    const counts = new Map<string, { state: MessageState; type: string; count: number }>();
    for (const { state, body } of this.#byId.values()) {
      const type = bodyType(body);
      const key = `${state} ${type}`;
      const row = counts.get(key) ?? { state, type, count: 0 };
      row.count++;
      counts.set(key, row);
    }
    return [...counts.values()];
  }

  countDueBefore(time: number): number {
    return this.#byState.delayed.countBefore({ rank: time, name: '' });
  }

  get(id: string): MemoryMessage | undefined {
    return this.#byId.get(id);
  }

  getIn(state: MessageState, id: string): MemoryMessage | undefined {
    const message = this.#byId.get(id);
    return message?.state === state ? message : undefined;
  }

  /** Returns a delayed message, unless it has fallen due and waits for its group's rate. */
  getNotDue(id: string): MemoryMessage | undefined {
    const message = this.getIn('delayed', id);
    return message && message.dueAt < Math.floor(message.rank) ? undefined : message;
  }

  getHeld({ id, token }: Claim): MemoryMessage | undefined {
    const message = this.#byId.get(id);
    return message?.token === token ? message : undefined;
  }

  listHeld(token: string): MemoryMessage[] {
    return this.list('active', this.count('active')).filter((message) => message.token === token);
  }

  /** The lowest rank in a state: the earliest due time, lease end or death. Undefined if the state is empty. */
  earliest(state: MessageState): number | undefined {
    const first = this.#byState[state].first();
    return first && Math.floor(first.rank);
  }

  /** Returns the first messages of a state, or the first after a place, whose message may be gone. */
  list(state: MessageState, limit: number, behind?: { readonly rank: number; readonly id: string }): MemoryMessage[] {
    return this.#byState[state].take(limit, behind && { rank: behind.rank, name: bytesOf(behind.id) });
  }

  all(): MemoryMessage[] {
    return [...this.#byId.values()];
  }

  listGroup(group: string): GroupMember[] {
    const members = [...this.#byId.values()].filter((each) => each.group === group);
    return members.map(({ id, state }) => ({ id, state }));
  }

  insert(id: string, body: Buffer, dueAt: number, offeredAt: number): MemoryMessage {
    const group = groupOf(body) ?? '';
    const message: MemoryMessage = {
      id,
      group,
      hasPermit: false,
      name: bytesOf(id),
      body,
      offeredAt,
      dueAt,
      failedAttempts: 0,
      token: null,
      error: '',
      state: 'delayed',
      rank: group === '' ? dueAt : this.#rankBehindEquals(dueAt),
    };
    this.#byId.set(id, message);
    this.#byState.delayed.add(message);
    return message;
  }

  /** Gives the message all its attempts again, as if it had been offered again. */
  renew(message: MemoryMessage, offeredAt: number): void {
    message.offeredAt = offeredAt;
    message.failedAttempts = 0;
  }

  /** @param rank - the due time, with a fraction of a millisecond that orders equal due times */
  delay(message: MemoryMessage, dueAt: number, rank = dueAt): void {
    message.dueAt = dueAt;
    this.#move(message, 'delayed', rank);
  }

  /** Delays a message that has already fallen due, behind others that come back at the same time. It keeps its due time. */
  putOff(message: MemoryMessage, until: number): void {
    this.#move(message, 'delayed', this.#rankBehindEquals(until));
  }

  makeReady(message: MemoryMessage): void {
    this.#move(message, 'ready', this.#readyEnd++);
  }

  makeReadyFirst(messages: readonly MemoryMessage[]): void {
    for (const message of [...messages].reverse()) this.#move(message, 'ready', --this.#readyHead);
  }

  /** Gives messages to a claim. Leases that end at the same time are ordered by token and, within a claim, by the order of its messages. */
  lease(messages: readonly MemoryMessage[], token: string, until: number): void {
    messages.forEach((message, place) => {
      const name = `${bytesOf(token)}\n${String(place).padStart(4, '0')}\n${bytesOf(message.id)}`;
      this.#move(message, 'active', until, name);
      message.token = token;
    });
  }

  deadLetter(message: MemoryMessage, error: string, diedAt: number): void {
    this.#move(message, 'dead', diedAt);
    message.error = error;
  }

  remove(message: MemoryMessage): void {
    this.#byState[message.state].remove(message);
    this.#byId.delete(message.id);
  }

  clear(): void {
    this.#byId.clear();
    this.#byState = emptyLists();
  }

  #rankBehindEquals(dueAt: number): number {
    const equals = this.#byState.delayed.take(4096, { rank: dueAt, name: '' }).filter(({ rank }) => rank < dueAt + 1);
    const last = equals.at(-1);
    return last ? Math.min(last.rank + FRACTION, dueAt + 1 - FRACTION) : dueAt;
  }

  #move(message: MemoryMessage, state: MessageState, rank: number, name = bytesOf(message.id)): void {
    this.#byState[message.state].remove(message);
    message.state = state;
    message.rank = rank;
    message.name = name;
    message.token = null;
    message.error = '';
    this.#byState[state].add(message);
  }
}

/** Returns the rank of a delayed message behind so many others with equal due times. */
export function rankAt(place: number, dueAt: number): number {
  return dueAt + Math.min(place * FRACTION, 1 - FRACTION);
}

function emptyLists(): Record<MessageState, RankedList<MemoryMessage>> {
  return { delayed: new RankedList(), ready: new RankedList(), active: new RankedList(), dead: new RankedList() };
}

/** Turns each byte into a character, so that strings compare by bytes, like ids in Redis. */
export function bytesOf(id: string): string {
  return Buffer.from(id).toString('latin1');
}
