import type { Delivery, Terms } from '../consumer/delivery.js';
import { ATTEMPTS_SPENT, type FirstDue } from '../consumer/expiry.js';
import type { RepeatsOf } from '../consumer/message-runner.js';
import { UnknownBodyForm } from '../message/codec/body-forms.js';
import type { Expiry } from '../message/expiry.js';
import { showFailure } from '../message/failure.js';
import { type Calendar, letterIdOf, type Occurrence, type RepeatRule } from '../message/repeat-rule.js';
import type { Retries } from '../message/retries.js';
import type { Outcome } from '../store/consumer-store.js';

export interface RepeatSettings {
  readonly calendar: Calendar;
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
      throw new UnknownBodyForm('repeat', `the calendar of this process cannot read its rule (${showFailure(error)})`);
    }
  };
}

/**
 * The terms of a repeating message. The next occurrence is the first one after the start of this attempt, by the store's clock. A late
 * attempt stands for all occurrences until then, and an occurrence that falls due during the attempt is handled afterwards.
 */
export class Repetition implements Terms {
  readonly repeat: Occurrence;
  readonly #firstDue: FirstDue;
  readonly #next: Date | null;

  /** @throws DelayQueueError `INVALID_ARGUMENT` if the calendar cannot read the rule */
  constructor(
    private readonly delivery: Pick<Delivery, 'id' | 'attempt' | 'dueAt' | 'lateness'>,
    private readonly settings: RepeatSettings,
    { rule, firstDue }: { readonly rule: RepeatRule; readonly firstDue: FirstDue },
  ) {
    this.#firstDue = firstDue;
    this.repeat = { ...rule, at: new Date(firstDue.at) };
    this.#next = this.#hasAttempt ? this.#nextFromNow() : settings.calendar.next(rule, new Date(delivery.dueAt));
  }

  get expiry(): Expiry | undefined {
    return this.#firstDue.expiry;
  }

  get retries(): Retries | undefined {
    return this.#firstDue.retries;
  }

  get expiresAt(): Date | undefined {
    return this.#firstDue.expiresAt;
  }

  /** False if the leases of all attempts have expired. In that case, no attempt stands for the occurrences until now. */
  get #hasAttempt(): boolean {
    return this.delivery.attempt <= (this.retries?.attempts ?? this.settings.attempts);
  }

  /** Ends an occurrence that has no attempts left, must be skipped, or has expired. */
  outcomeWithoutHandler(): Outcome | undefined {
    const { attempt, lateness } = this.delivery;
    if (!this.#hasAttempt) return ATTEMPTS_SPENT;
    const isMissed = attempt === 1 && lateness > MISSED_AFTER;
    if (isMissed && this.repeat.missed === 'skip') return { kind: 'ack', lateBy: lateness };
    return this.#firstDue.outcomeWithoutHandler();
  }

  /** Adds the next occurrence to the outcome if this one is over. */
  complete(given: Outcome): Outcome {
    const outcome = this.#firstDue.complete(given);
    if (outcome.kind !== 'ack' && outcome.kind !== 'dead') return outcome;
    const next = this.repeat.missed === 'skip' ? this.#nextFromNow() : this.#next;
    if (!next) return outcome;
    const at = next.getTime();
    if (outcome.kind === 'ack') return { ...outcome, next: { at } };
    const { id, attempt } = this.delivery;
    const failedAttempts = outcome.by === 'lease' ? attempt - 1 : attempt;
    return { ...outcome, next: { at, letter: letterIdOf(id, this.repeat.at), failedAttempts } };
  }

  #nextFromNow(): Date | null {
    const { dueAt, lateness } = this.delivery;
    return this.settings.calendar.next(this.repeat, new Date(dueAt + lateness));
  }
}
