import type { Delivery, OwnTerms, Terms } from '../consumer/delivery.js';
import { ATTEMPTS_SPENT, type FirstDue } from '../consumer/first-due.js';
import type { RepeatsOf } from '../consumer/message-runner.js';
import { UnknownBodyForm } from '../message/codec/body-forms.js';
import { showFailure } from '../message/failure.js';
import { isCounted, letterIdOf, type Occurrence, type RepeatProgress } from '../message/repeat-rule.js';
import type { NextOccurrence, Outcome } from '../store/consumer-store.js';
import type { RuleTimes } from './rule-times.js';

export interface RepeatSettings {
  readonly times: RuleTimes;
  /** The maximum number of attempts of a message that has none of its own. */
  readonly attempts: number;
}

/** An occurrence has been missed if no handler could start within this time, ms. */
const MISSED_AFTER = 60_000;

export function repeatsWith(settings: RepeatSettings): RepeatsOf {
  return (delivery, rule, firstDue) => {
    try {
      return new Repetition(delivery, settings, { rule, firstDue });
    } catch (error) {
      throw new UnknownBodyForm('repeat', `this process cannot compute its times (${showFailure(error)})`);
    }
  };
}

/**
 * The terms of a repeating message. The next occurrence is the first one after the claim of this attempt. A late attempt stands for
 * all occurrences until then, and an occurrence that falls due afterwards is still handled. The store's clock at the start of the attempt
 * would not do: a process only estimates it, and would skip occurrences by an estimate that is ahead. With `missed: 'each'`, the next
 * occurrence is the first one after this one, or the first that is not too late to be made up for.
 */
export class Repetition implements Terms {
  readonly repeat: Occurrence;
  readonly #rule: RepeatProgress;
  readonly #firstDue: FirstDue;
  readonly #next: number | null;

  /** @throws DelayQueueError as {@link RuleTimes.nextAfter} */
  constructor(
    private readonly delivery: Pick<Delivery, 'id' | 'attempt' | 'dueAt' | 'lateness' | 'lease'>,
    private readonly settings: RepeatSettings,
    { rule, firstDue }: { readonly rule: RepeatProgress; readonly firstDue: FirstDue },
  ) {
    this.#rule = rule;
    this.#firstDue = firstDue;
    this.#next = settings.times.nextAfter(rule, this.#coveredUntil());
    const { isPaused: _, count = 0, ...ofRule } = rule;
    const number = isCounted(rule) ? { count: count + 1 } : {};
    const isLast = this.#next === null || count + 1 >= (rule.limit ?? Infinity);
    this.repeat = { ...ofRule, ...number, at: new Date(firstDue.at), isLast };
  }

  get own(): OwnTerms {
    return this.#firstDue.own;
  }

  get expiresAt(): Date | undefined {
    return this.#firstDue.expiresAt;
  }

  /** False if the leases of all attempts have expired. In that case, no attempt stands for the occurrences until now. */
  get #hasAttempt(): boolean {
    return this.delivery.attempt <= (this.own.retries?.attempts ?? this.settings.attempts);
  }

  /** True if nothing has happened to this occurrence before this attempt. */
  get #isNew(): boolean {
    return this.delivery.attempt === 1 && !this.#firstDue.wasDelayedAgain;
  }

  /** Not before the due time, although somebody may have set the store's clock back. */
  get #claimedAt(): number {
    return Math.max(this.delivery.dueAt, this.delivery.lease.claimedAt);
  }

  /** The store's time now, ms: that of the claim, and what has passed since its answer arrived. So it is never ahead. */
  get #now(): number {
    const { receivedAt, storeNow } = this.delivery.lease;
    return this.#claimedAt + storeNow() - storeNow(receivedAt);
  }

  /** Ends an occurrence that has no attempts left, must be skipped, or has expired. */
  outcomeWithoutHandler(): Outcome | undefined {
    const { attempt, lateness } = this.delivery;
    if (!this.#hasAttempt) return ATTEMPTS_SPENT;
    const { isPaused, missed, catchUp = 0 } = this.#rule;
    const missedAfter = { once: Infinity, skip: MISSED_AFTER, each: catchUp }[missed];
    const isMissed = attempt === 1 && lateness > missedAfter;
    // It fell due just before somebody paused the repetition.
    if (isMissed || (isPaused && this.#isNew)) return { kind: 'ack', lateBy: lateness };
    return this.#firstDue.outcomeWithoutHandler();
  }

  /** Adds the next occurrence to the outcome if this one is over. */
  complete(given: Outcome): Outcome {
    const outcome = this.#firstDue.complete(given);
    if (outcome.kind !== 'ack' && outcome.kind !== 'dead') return outcome;
    const next = this.#nextAfter(outcome);
    if (outcome.kind === 'ack') return next.at === null ? outcome : { ...outcome, next };
    const { id, attempt } = this.delivery;
    const failedAttempts = outcome.by === 'lease' ? attempt - 1 : attempt;
    return { ...outcome, next: { ...next, letter: letterIdOf(id, this.repeat.at), failedAttempts } };
  }

  /** An occurrence that no handler got, because it was missed, paused or expired, does not count. */
  #nextAfter(outcome: Outcome): NextOccurrence {
    const { limit = Infinity, missed } = this.#rule;
    const { count } = this.repeat;
    if (count === undefined || 'lateBy' in outcome) return { at: this.#nextTime(missed) };
    return count >= limit ? { at: null } : { at: this.#nextTime(missed), count };
  }

  /** With `skip`, the first one after the end of the attempt. */
  #nextTime(missed: RepeatProgress['missed']): number | null {
    return missed === 'skip' ? this.settings.times.nextAfter(this.#rule, this.#now) : this.#next;
  }

  /** Returns the instant up to which this occurrence stands for all others, ms. */
  #coveredUntil(): number {
    const { missed, catchUp = 0 } = this.#rule;
    if (missed === 'each') return Math.max(this.#firstDue.at, this.#claimedAt - catchUp);
    return this.#hasAttempt ? this.#claimedAt : this.delivery.dueAt;
  }
}
