import { isPutOff } from '../../../lib/message/codec/body-forms.js';
import { decodeEncrypted, nativeCodec } from '../../../lib/message/codec/native-codec.js';
import { isCounted, PAUSED_UNTIL, type RepeatProgress } from '../../../lib/message/repeat-rule.js';
import type { ClaimedMessage, NextOccurrence, Outcome } from '../../../lib/store/consumer-store.js';
import { MAX_PERIOD } from '../workload/rules.js';
import type { Delivery } from './delivery.js';
import type { Life } from './life.js';

/** An occurrence may be skipped if it is later than this, ms. */
const SKIPPED_AFTER = 60_000;

/** The maximum by which the clock of a process is too fast. */
const MAX_DRIFT = 1 / 1000;

export interface RepeatUseOptions {
  /** The time by the server's clock, ms since 1970. */
  readonly time: () => number;
  /** True if somebody has set that clock. */
  readonly hasStepped: () => boolean;
  readonly violate: (promise: string, id: string, detail: string) => void;
}

/** Judges the occurrences of messages that repeat, by the rules in what consumers have claimed. */
export class RepeatUse {
  constructor(private readonly options: RepeatUseOptions) {}

  /** Nothing has undone a pause, and no offer or outcome has changed the number of occurrences that are over. */
  claimed(life: Life, delivery: Delivery, { body, failedAttempts }: ClaimedMessage): void {
    const rule = (decodeEncrypted(body) ?? nativeCodec.decode(body)).repeat;
    delivery.rule = rule;
    if (!rule) return;
    const { violate, time } = this.options;
    delivery.claimTime = time();
    if ((rule.isPaused ?? false) !== life.isRulePaused) {
      violate(
        'paused rule',
        life.id,
        `claimed as ${rule.isPaused ? 'paused, though it is not' : 'not paused, though it is'}`,
      );
    }
    if (life.occurrencesOver !== undefined && (rule.count ?? 0) !== life.occurrencesOver) {
      violate('occurrences', life.id, `${rule.count ?? 0} are over instead of ${life.occurrencesOver}`);
    }
    delivery.mustSkip = life.isRulePaused && failedAttempts === 0 && !isPutOff(body);
  }

  /** No occurrence begins while its rule is paused. */
  started({ id }: Life, { mustSkip }: Delivery): void {
    if (mustSkip) this.options.violate('paused rule', id, 'an occurrence begins while it is paused');
  }

  /** True if an occurrence may end without a handler. */
  maySkip({ due }: Life, { rule, mustSkip }: Delivery): boolean {
    const isLate = this.options.time() - due > SKIPPED_AFTER - 1000;
    return mustSkip || (rule !== undefined && isLate) || this.options.hasStepped();
  }

  /** Returns when the next occurrence is due; undefined if there is none. */
  ended(
    life: Life,
    delivery: Delivery | undefined,
    outcome: Extract<Outcome, { kind: 'ack' | 'dead' }>,
  ): number | undefined {
    const rule = delivery?.rule;
    const { next } = outcome;
    if (rule) this.#judgeNext(delivery, rule, { next, counts: !('lateBy' in outcome) });
    if (typeof next?.at !== 'number') return undefined;
    life.occurrencesOver = rule && isCounted(rule) && !life.follower ? (next.count ?? rule.count ?? 0) : undefined;
    return life.isRulePaused ? PAUSED_UNTIL : next.at;
  }

  #judgeNext(
    { life, claimTime }: Delivery,
    rule: RepeatProgress,
    { next, counts }: { readonly next: NextOccurrence | undefined; readonly counts: boolean },
  ): void {
    const { time, hasStepped, violate } = this.options;
    const { every, startsAt, endsAt, limit = Infinity, count = 0, missed } = rule;
    const problem = (detail: string) => violate('occurrences', life.id, detail);
    const over = count + (counts ? 1 : 0);
    const before = missed === 'each' ? life.firstDue : life.due;
    // The first one after the claim, so that none is skipped; with `skip`, the first one after the end, by the clock of the process.
    const from = missed === 'skip' ? time() + (time() - claimTime) * MAX_DRIFT : claimTime;
    const latest = Math.max(before, from, startsAt?.getTime() ?? 0) + (every ?? MAX_PERIOD);
    if (typeof next?.at !== 'number') {
      const hasMore = over < limit && (endsAt === undefined || endsAt.getTime() >= latest);
      if (hasMore && !hasStepped()) problem(`no other after ${over} of ${limit}, claimed at ${claimTime}`);
      return;
    }
    const { at } = next;
    if (over >= limit) problem(`another after ${over} of ${limit}`);
    if (isCounted(rule) && counts && next.count !== over) problem(`${next.count} are over instead of ${over}`);
    if (startsAt && at < startsAt.getTime()) problem(`${at} is before the start`);
    if (endsAt && at > endsAt.getTime()) problem(`${at} is after the end`);
    if (every !== undefined && (at - (startsAt?.getTime() ?? 0)) % every !== 0) problem(`${at} has another phase`);
    if ((at <= before || at > latest) && !hasStepped())
      problem(`the next of ${before} is ${at}, claimed at ${claimTime}`);
  }
}
