import type { Clock } from '../timing/clock.js';
import { hasCode, showFailure } from '../message/failure.js';
import type { BackgroundWork } from './delay-queue-events.js';
import type { Events } from './events.js';

/** Milliseconds until a failure that lasts is told again. */
const REMINDER_INTERVAL = 60_000;

/** So many different errors are told at once while one failure lasts; further ones wait for the next reminder. */
const MOST_KINDS = 5;

/** What is told of a streak, with how long it has lasted, ms. */
export interface FailureStreakListener {
  readonly failing: (reason: string, lasted: number) => void;
  readonly over: (lasted: number) => void;
}

/** Tells of background work that fails, as events. */
export function workFailures(events: Events, work: BackgroundWork, queue?: string): FailureStreakListener {
  return {
    failing: (reason, lasted) => events.emit('workFailing', { work, queue, reason, lasted }),
    over: (lasted) => events.emit('workRestored', { work, queue, lasted }),
  };
}

/** Tells of a connection that fails, as events. */
export function connectionFailures(events: Events, connection: string): FailureStreakListener {
  return {
    failing: (reason, lasted) => events.emit('connectionLost', { connection, reason, lasted }),
    over: (lasted) => events.emit('connectionRestored', { connection, lasted }),
  };
}

/**
 * Tells of what is retried until it works: once when it begins to fail, at once when the error is another, otherwise once a
 * minute, and once when it is over. However often it is tried, no more is told.
 */
export class FailureStreak {
  /** When it began to fail, on the monotonic clock; undefined: it works. */
  #since: number | undefined;
  #remindAt = Infinity;
  /** The errors that were told since then. */
  readonly #told = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly listener: FailureStreakListener,
  ) {}

  failed(reason: string): void {
    const now = this.clock.monotonic();
    this.#since ??= now;
    if (now < this.#remindAt && !this.#isNews(reason)) return;
    this.#remindAt = now + REMINDER_INTERVAL;
    this.listener.failing(reason, now - this.#since);
  }

  /** As {@link failed}, of a call of a store. That there is no connection is the connection's own news, and told once. */
  callFailed(error: unknown): void {
    if (!hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED', 'OUTCOME_UNKNOWN')) this.failed(showFailure(error));
  }

  worked(): void {
    if (this.#since === undefined) return;
    const lasted = this.clock.monotonic() - this.#since;
    this.#since = undefined;
    this.#remindAt = Infinity;
    this.#told.clear();
    this.listener.over(lasted);
  }

  /** Numbers in it, such as ports and lengths of time, make no other error. */
  #isNews(reason: string): boolean {
    const kind = reason.replace(/\d+/g, '');
    if (this.#told.has(kind) || this.#told.size === MOST_KINDS) return false;
    this.#told.add(kind);
    return true;
  }
}
