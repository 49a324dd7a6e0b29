import { expect } from '@jest/globals';
import { groupOf } from '../../lib/message/codec/body-forms.js';
import type { MessageState } from '../../lib/message/message.js';
import type { Claim, ClaimRequest, Settlement } from '../../lib/store/consumer-store.js';
import type { ChangeOutcome, DueTime, Offer, OfferOutcome } from '../../lib/store/producer-store.js';
import type { StoreLimits } from '../../lib/store/message-store.js';
import { ofGroup, wrapGroup } from '../support/of-group.js';
import { GroupBacklogs } from './group-backlog.js';
import type { Instant, Moment } from './instant.js';
import { type ModelMessage, QueueModel } from './queue-model.js';

/** The number of messages of one millisecond that are distinguished. */
const MAX_EQUALS = 3333;

/** Gives an offer a group, which depends on its body. */
export function inGroup(offer: Offer): Offer {
  const body = Buffer.from(offer.body);
  const group = ['one', 'one', 'two', 'three'][body.reduce((sum, byte) => sum + byte, 0) % 4]!;
  return ofGroup({ ...offer, body: body.toString() }, group);
}

/** A new message, and those that were delayed when it was offered. */
interface Unplaced {
  readonly message: ModelMessage;
  readonly delayed: readonly ModelMessage[];
  /** Those among them that the same call offered, if that call distinguishes its own by their groups. */
  readonly own: readonly ModelMessage[];
}

/** The differences of messages with groups: which may be claimed, and in which order those of one millisecond fall due. */
export class GroupModel extends QueueModel {
  override readonly readyList: GroupBacklogs;
  readonly #groups = new Map<string, string>();
  /** True if a claim has seen all ready messages of paused groups, so that they are in their backlogs, where they need no signal. */
  #arePausedInBacklogs = false;
  /** New messages whose due times have not been seen yet. */
  #unplaced: Unplaced[] = [];

  /**
   * @param isWhole - true if one call accepts its offers one after the other, and followers count as offers; in Redis, an offer takes the
   * place of the one that it replaces in its own call, and followers come before offers for the same millisecond
   */
  constructor(
    limits: StoreLimits,
    private readonly isWhole: boolean,
  ) {
    super(limits);
    this.readyList = new GroupBacklogs(limits.groups!, (id) => this.groupOf(id));
  }

  groupOf(id: string): string {
    return this.#groups.get(id)!;
  }

  override claimOf(id: string, token: string): Claim {
    return { id, token, group: this.#groups.get(id) };
  }

  override laterBody(id: string, body: string): string {
    const group = this.#groups.get(id);
    return group === undefined ? body : wrapGroup(body, group).toString();
  }

  override in(state: MessageState): ModelMessage[] {
    if (state === 'delayed') this.#unplaced = this.#unplaced.filter((each) => !this.#place(each));
    return super.in(state);
  }

  override offer(offers: readonly Offer[], at: Moment): { outcome: OfferOutcome; due: Instant }[] {
    return this.#freeing(() => {
      const before = this.#delayed().map((message) => ({ ...message }));
      const receipts = super.offer(offers.map(inGroup), at);
      const isStored = ({ outcome }: { outcome: OfferOutcome }) => outcome === 'created' || outcome === 'replaced';
      const stored = new Set(offers.filter((_, index) => isStored(receipts[index]!)).map(({ id }) => id));
      if (this.isWhole) return receipts;
      const own: ModelMessage[] = [];
      for (const id of stored) {
        const message = this.messages.get(id)!;
        this.#unplaced.push({ message, delayed: [...before, ...own], own: [...own] });
        own.push(message);
      }
      return receipts;
    });
  }

  protected override insert(offer: Pick<Offer, 'id' | 'due' | 'body'>, at: Moment): ModelMessage {
    const delayed = this.#delayed();
    const message = super.insert(offer, at);
    const group = groupOf(Buffer.from(offer.body))!;
    this.#groups.set(offer.id, group);
    if (this.isWhole) this.#unplaced.push({ message, delayed, own: [] });
    else message.delayedAs = `${group}\n${offer.id}`;
    return message;
  }

  override reschedule(id: string, due: DueTime, at: Moment): boolean {
    const isChanged = super.reschedule(id, due, at);
    if (isChanged) this.messages.get(id)!.entry = undefined;
    return isChanged;
  }

  override change(id: string, change: { due: DueTime; from: string; to: string }, at: Moment): ChangeOutcome {
    const outcome = super.change(id, change, at);
    if (outcome === 'changed') this.messages.get(id)!.entry = undefined;
    return outcome;
  }

  /** True if any group has, or has had, settings of its own. */
  hadSettings = false;

  pauseGroup(group: string): void {
    this.hadSettings = true;
    this.readyList.paused.add(group);
    this.#arePausedInBacklogs = false;
    this.readyList.noteWaiting();
    // A store may wake a consumer for other groups, although nothing has changed for them.
    if (this.wakeSignal === 'none') this.wakeSignal = 'stale';
  }

  resumeGroup(group: string): void {
    const before = this.wakeSignal;
    this.#freeing(() => this.readyList.paused.delete(group));
    // If its ready messages have stayed where claims find them, they need the signal that they had.
    if (!this.#arePausedInBacklogs) this.wakeSignal = before === 'none' ? 'stale' : before;
  }

  raiseConcurrency(group: string, concurrency: number): void {
    this.hadSettings = true;
    this.#freeing(() => this.readyList.concurrencies.set(group, concurrency));
  }

  override transfer(limit: number, at: Moment) {
    this.#arePausedInBacklogs = false;
    const report = super.transfer(limit, at);
    this.readyList.noteWaiting();
    return { ...report, ready: this.#claimableSeen() };
  }

  /** Not supported with groups. */
  override transferAndClaim(): undefined {
    return undefined;
  }

  override claim(messages: readonly ModelMessage[], request: ClaimRequest, at: Moment) {
    for (const { id, state } of messages) {
      if (state === 'ready') this.readyList.take([id]);
      else this.readyList.noteVisit(this.groupOf(id));
    }
    const report = super.claim(messages, request, at);
    this.readyList.noteWaiting();
    if (messages.length === 0 && request.limit > 0 && !this.ended.has(request.token)) this.#arePausedInBacklogs = true;
    if (this.readyList.isVague) return { ...report, more: expect.any(Boolean) as unknown as boolean };
    if (report.more || this.limits.groups!.concurrency === 1) return report;
    // A message that is replaced in a backlog leaves an empty place, for which a claim may wake a consumer in vain.
    if (this.wakeSignal === 'none') this.wakeSignal = 'stale';
    return { ...report, more: expect.any(Boolean) as unknown as boolean };
  }

  override settle(settlements: readonly Settlement[], at: Moment) {
    return this.#freeing(() => {
      const report = super.settle(settlements, at);
      settlements.forEach(({ claim: { id }, outcome: { kind } }, index) => {
        const keepsPermit = kind === 'release' || (kind === 'retry' && this.limits.groups!.onRetry === 'hold');
        if (report.accepted[index] && !keepsPermit) this.readyList.permits.delete(id);
      });
      return report;
    });
  }

  override cancel(id: string): boolean {
    return this.#freeing(() => super.cancel(id));
  }

  override abort(id: string, at: Moment): boolean {
    return this.#freeing(() => super.abort(id, at));
  }

  override remove(id: string): boolean {
    this.readyList.permits.delete(id);
    return super.remove(id);
  }

  protected override deadLetter(message: ModelMessage, error: string, at: Moment): void {
    this.readyList.permits.delete(message.id);
    super.deadLetter(message, error, at);
  }

  override get claimableNow(): number {
    return this.readyList.claimable;
  }

  /** Wakes a consumer if a group can be claimed again. */
  #freeing<Result>(call: () => Result): Result {
    const before = new Set(this.readyList.claimableGroups);
    const result = call();
    this.readyList.noteWaiting();
    const after = this.readyList.claimableGroups;
    if (this.paused) return result;
    if (this.room > 0 && after.some((group) => !before.has(group))) this.wakeSignal = 'sent';
    else if (after.length > 0 && this.wakeSignal === 'none') this.wakeSignal = 'stale';
    return result;
  }

  /** The number that a transfer reports: with several permits, a store need not look into the backlogs. */
  #claimableSeen(): number {
    const { claimable, concurrencies } = this.readyList;
    const { concurrency } = this.limits.groups!;
    if (this.readyList.isVague) return expect.any(Number) as unknown as number;
    if (concurrency === 1 && concurrencies.size === 0) return claimable;
    const isIt = (seen: unknown) => typeof seen === 'number' && seen <= claimable && seen >= Math.min(1, claimable);
    return { asymmetricMatch: isIt, toString: () => `1 to ${claimable}` } as unknown as number;
  }

  #delayed(): ModelMessage[] {
    return [...this.messages.values()].filter(({ state }) => state === 'delayed');
  }

  /** @returns true if it has its place or needs none */
  #place({ message, delayed, own }: Unplaced): boolean {
    if (this.messages.get(message.id) !== message || message.state !== 'delayed') return true;
    if (![message, ...delayed].every(({ due }) => due.isExact)) return false;
    const equals = delayed.filter((other) => other !== message && other.due.exact === message.due.exact);
    const last = Math.max(-1, ...equals.map(({ entry = 0 }) => entry));
    const among = own.filter((other) => equals.includes(other)).map(({ id }) => this.groupOf(id));
    const isFirst = among.length > 0 && !among.includes(this.groupOf(message.id));
    message.entry = isFirst ? last : Math.min(last + 1, MAX_EQUALS - 1);
    return true;
  }
}
