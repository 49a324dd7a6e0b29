import { afterEach, expect } from '@jest/globals';
import type { Claim, WakeSignal, Outcome, TransferReport } from '../../lib/store/consumer-store.js';
import type { DueTime, OfferReceipt, OnDuplicate } from '../../lib/store/producer-store.js';
import type { MessageStore, StoreLimits } from '../../lib/store/message-store.js';
import type { ListedState, StoredMessage, StoredPage } from '../../lib/store/admin-store.js';
import type { MessageState } from '../../lib/message/message.js';
import { groupOf } from '../../lib/message/codec/body-forms.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';

/** What a store's test file provides: a fresh queue, seen from two processes. */
export interface QueueUnderTest {
  readonly store: MessageStore;
  /** The same queue as another process sees it. */
  readonly secondView: MessageStore;
  /** The store's clock. */
  now(): Promise<number>;
  /** Lets at least `ms` milliseconds pass on the store's clock. */
  advance(ms: number): Promise<void>;
  /** What is still stored when no message is left, such as the names of keys; for stores that could forget to clean up. */
  leftovers?(): Promise<readonly string[]>;
  /** True if messages due in the same millisecond come in offer order, whatever their ids. */
  readonly keepsOrderOfOffers?: boolean;
  /** True if ready messages may move within their state, from a backlog to the front. */
  readonly hasBacklogs?: boolean;
  /** Damages the store: a message loses its record; for stores whose records can get lost. */
  lose?(id: string): Promise<unknown>;
  /** Damages the store: deletes a part of what it has stored; for stores with parts. */
  damage?(part: string): Promise<unknown>;
  /** True if bodies have no type in this layout. */
  readonly isTypeless?: boolean;
  /** How many subscriptions a watcher has; in a cluster, each may be on another server. Default: 1. */
  readonly subscriptions?: number;
  /** Closes the stores and deletes everything the queue has stored. */
  close(): Promise<void>;
}

export type OpenQueue = (limits: StoreLimits) => Promise<QueueUnderTest>;

/** Matches any time of the store. */
export const SOME_TIME = expect.any(Number) as unknown as number;

export const HOUR = 3_600_000;
const GENEROUS: StoreLimits = {
  attempts: 3,
  maxDeadLetters: 1000,
  maxMessages: null,
};
/** Short enough for a test to wait until it ends. */
export const SHORT_LEASE = 30;

/** Opens queues for the tests of one suite and closes them after each. */
export class ContractQueues {
  readonly #open: ContractQueue[] = [];

  constructor(private readonly openQueue: OpenQueue) {
    afterEach(async () => {
      await Promise.all(this.#open.splice(0).map((queue) => queue.close()));
    });
  }

  async open(limits: Partial<StoreLimits> = {}): Promise<ContractQueue> {
    const all = { ...GENEROUS, ...limits };
    const queue = new ContractQueue(await this.openQueue(all), all);
    this.#open.push(queue);
    return queue;
  }
}

/** A queue under test, with the steps that bring a message to the state a rule is about. */
export class ContractQueue {
  /** Any codec would do: stores keep bodies as they are. */
  readonly codec = nativeCodec;
  readonly store: MessageStore;
  readonly secondView: MessageStore;
  readonly #signals: WakeSignal[] = [];
  #tokens = 0;

  constructor(
    private readonly underTest: QueueUnderTest,
    private readonly limits: StoreLimits,
  ) {
    this.store = underTest.store;
    this.secondView = underTest.secondView;
  }

  get keepsOrderOfOffers(): boolean {
    return this.underTest.keepsOrderOfOffers ?? false;
  }

  get isTypeless(): boolean {
    return this.underTest.isTypeless ?? false;
  }

  get subscriptions(): number {
    return this.underTest.subscriptions ?? 1;
  }

  get hasBacklogs(): boolean {
    return this.underTest.hasBacklogs ?? false;
  }

  /** Damages the store: a message loses its record. */
  async lose(id: string): Promise<void> {
    await defined(this.underTest.lose)(id);
  }

  /** Damages the store: a part of what it has stored is deleted. */
  async damage(part: string): Promise<void> {
    await defined(this.underTest.damage)(part);
  }

  /** Changes limits while the queue is in use. */
  limit(limits: Pick<StoreLimits, 'rate' | 'globalConcurrency'>): void {
    Object.assign(this.limits, limits);
  }

  now(): Promise<number> {
    return this.underTest.now();
  }

  advance(ms: number): Promise<void> {
    return this.underTest.advance(ms);
  }

  async leftovers(): Promise<readonly string[]> {
    return (await this.underTest.leftovers?.()) ?? [];
  }

  openWakeSignal(view: MessageStore = this.store): WakeSignal {
    const signal = view.openWakeSignal();
    this.#signals.push(signal);
    return signal;
  }

  async close(): Promise<void> {
    await Promise.all(this.#signals.map((signal) => signal.close()));
    await this.underTest.close();
  }

  async offer(
    id: string,
    due: DueTime,
    { onDuplicate = 'reject', type = '', payload = `payload of ${id}`, view = this.store }: OfferOptions = {},
  ): Promise<OfferReceipt> {
    const body = this.codec.encode({ type, payload, headers: {} });
    const [receipt] = await view.offer([{ id, due, onDuplicate, body }]);
    return defined(receipt);
  }

  /** Offers messages that are already due, earliest first, and does not transfer them. */
  async offerDue(...ids: string[]): Promise<void> {
    const longAgo = Math.floor(await this.now()) - HOUR;
    const offers = ids.map((id, index) => ({
      id,
      due: { at: longAgo + index },
      onDuplicate: 'reject' as const,
      body: this.codec.encode({ type: '', payload: `payload of ${id}`, headers: {} }),
    }));
    await this.store.offer(offers);
  }

  /** Makes new messages ready, in this order. */
  async makeReady(...ids: string[]): Promise<void> {
    await this.offerDue(...ids);
    await this.transfer();
  }

  /** Makes new messages active, each held by a claim of its own. */
  async makeActive(ids: readonly string[], lease = HOUR): Promise<Claim[]> {
    const claims: Claim[] = [];
    for (const id of ids) {
      await this.makeReady(id);
      claims.push(...(await this.claim(1, lease)));
    }
    return claims;
  }

  /** Makes dead letters of new messages, each in a millisecond of its own. */
  async makeDead(...ids: string[]): Promise<void> {
    for (const id of ids) {
      const [claim] = await this.makeActive([id]);
      await this.settle(claim, { kind: 'dead', error: `error of ${id}` });
      await this.advance(2);
    }
  }

  /** Brings a new message to the given state, and returns the claim that holds it, if one does. */
  async makeIn(state: MessageState, id: string): Promise<Claim | undefined> {
    switch (state) {
      case 'delayed':
        await this.offer(id, { after: HOUR });
        return undefined;
      case 'ready':
        await this.makeReady(id);
        return undefined;
      case 'active':
        return (await this.makeActive([id]))[0];
      case 'dead':
        await this.makeDead(id);
        return undefined;
    }
  }

  transfer(limit = 1000): Promise<TransferReport> {
    return this.store.transfer({ limit });
  }

  /** Transfers until nothing is left to transfer. */
  async transferAll(limit: number): Promise<number> {
    let moved = 0;
    for (let rounds = 0; rounds < 1000; rounds++) {
      const report = await this.transfer(limit);
      moved += report.moved;
      if (!report.more) {
        return moved;
      }
    }
    throw new Error('there is always more to transfer');
  }

  /** Lets time pass until a transfer finds a due message or an expired lease. */
  async transferSomething(): Promise<TransferReport> {
    for (let waited = 0; waited < 2000; waited++) {
      const report = await this.transfer();
      if (report.moved + report.recovered + report.deadLettered.length > 0) {
        return report;
      }
      await this.advance(1);
    }
    throw new Error('nothing fell due');
  }

  async claim(limit = 1000, lease = HOUR, view = this.store): Promise<Claim[]> {
    const token = this.newToken();
    const { messages } = await view.claim({ token, limit, lease });
    return messages.map(({ id, body }) => ({ id, token, group: groupOf(body) }));
  }

  newToken(): string {
    return `token-${this.#tokens++}`;
  }

  async settle(claim: Claim | undefined, outcome: Outcome): Promise<boolean> {
    const { accepted } = await this.store.settle([{ claim: defined(claim), outcome }]);
    return defined(accepted[0]);
  }

  /** The state of a message, or null if it is gone. */
  async stateOf(id: string): Promise<ListedState | null> {
    return (await this.store.find(id))?.state ?? null;
  }

  async find(id: string): Promise<StoredMessage> {
    return defined(await this.store.find(id));
  }

  /** Removes messages from a state, whatever their places there. */
  async remove(state: MessageState, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (state === 'delayed') expect(await this.store.cancel(id)).toBe(true);
      else if (state === 'dead') expect(await this.store.discard({ id })).toBe(1);
      else await this.offer(id, { after: HOUR }, { onDuplicate: 'replace' });
    }
  }

  /** The dead letters, oldest first. */
  async dead(): Promise<readonly StoredMessage[]> {
    const { messages, cursor } = await this.store.list({ state: 'dead', limit: 1000 });
    expect(cursor).toBeNull();
    return messages;
  }

  /** The ids of all messages in a state, page by page. */
  async pages(state: ListedState, limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    let page: StoredPage | undefined;
    do {
      const from = page && { cursor: defined(page.cursor) };
      page = await this.store.list({ state, limit, ...(from && { from }) });
      pages.push(page.messages.map(({ id }) => id));
      expect(pages.length).toBeLessThan(1000);
    } while (page.cursor !== null);
    return pages;
  }

  /** Everything observable about the queue but the time, to compare before and after. */
  async look(...ids: string[]): Promise<unknown> {
    const messages = await Promise.all(ids.map((id) => this.store.find(id)));
    return { messages, letters: await this.dead(), status: { ...(await this.store.status()), now: SOME_TIME } };
  }
}

interface OfferOptions {
  readonly onDuplicate?: OnDuplicate;
  readonly type?: string;
  readonly payload?: unknown;
  readonly view?: MessageStore;
}

/** Ids that sort by their numbers. */
export function numberedIds(count: number, prefix = 'm'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
}

export function defined<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) {
    throw new Error('expected a value, got none');
  }
  return value;
}
