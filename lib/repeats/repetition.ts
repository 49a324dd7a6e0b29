import { type Calendar, letterIdOf, type Occurrence, type RepeatRule } from '../message/repeat-rule.js';
import { LEASE_EXPIRED, type Outcome } from '../store/consumer-store.js';

/** The message of an occurrence. */
interface OccurrenceMessage {
  readonly id: string;
  readonly attempt: number;
  /** ms, by the store's clock. */
  readonly dueAt: number;
  /** ms, now. */
  readonly lateness: number;
}

/** What messages that repeat need of their queue. */
export interface RepeatSettings {
  readonly calendar: Calendar;
  /** How many attempts a message has. */
  readonly attempts: number;
}

/** An occurrence that no handler could start within this time has been missed, ms. */
const MISSED_AFTER = 60_000;

/**
 * How a message that repeats goes on. Its next time is the first one after the start of this attempt, by the clock of the store: so an
 * attempt that starts late stands for all occurrences until then, and one whose time comes while it runs is handled after it.
 */
export class Repetition {
  readonly occurrence: Occurrence;
  readonly #next: Date | null;

  /**
   * @param at - when the message fell due for the first time, ms
   * @throws DelayQueueError `INVALID_ARGUMENT` if this calendar cannot read the rule
   */
  constructor(
    private readonly message: OccurrenceMessage,
    private readonly settings: RepeatSettings,
    { rule, at }: { readonly rule: RepeatRule; readonly at: number },
  ) {
    this.occurrence = { ...rule, at: new Date(at) };
    this.#next = this.#hasAttempt ? this.#nextFromNow() : settings.calendar.next(rule, new Date(message.dueAt));
  }

  /** Not if the leases of all its attempts have expired: then nothing stands for the occurrences until now. */
  get #hasAttempt(): boolean {
    return this.message.attempt <= this.settings.attempts;
  }

  /** The outcome of an occurrence that its handler is not to see: it has no attempt left, or is to be skipped. */
  outcomeWithoutHandler(): Outcome | undefined {
    const { attempt, lateness } = this.message;
    if (!this.#hasAttempt) return { kind: 'dead', error: JSON.stringify(LEASE_EXPIRED), by: 'lease' };
    const isMissed = attempt === 1 && lateness > MISSED_AFTER;
    return isMissed && this.occurrence.missed === 'skip' ? { kind: 'ack', lateBy: lateness } : undefined;
  }

  /** The outcome with the next occurrence, if this one has ended and another one comes. */
  goOn(outcome: Outcome): Outcome {
    if (outcome.kind !== 'ack' && outcome.kind !== 'dead') return outcome;
    const next = this.occurrence.missed === 'skip' ? this.#nextFromNow() : this.#next;
    if (!next) return outcome;
    const at = next.getTime();
    if (outcome.kind === 'ack') return { ...outcome, next: { at } };
    const { id, attempt } = this.message;
    const failedAttempts = outcome.by === 'lease' ? attempt - 1 : attempt;
    return { ...outcome, next: { at, letter: letterIdOf(id, this.occurrence.at), failedAttempts } };
  }

  #nextFromNow(): Date | null {
    const { dueAt, lateness } = this.message;
    return this.settings.calendar.next(this.occurrence, new Date(dueAt + lateness));
  }
}
