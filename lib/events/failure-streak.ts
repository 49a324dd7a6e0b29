import type { Clock } from '../timing/clock.js';
import { hasCode, showFailure } from '../message/failure.js';
import type { BackgroundWork } from '../message/delay-queue-events.js';
import type { Events } from './events.js';
import { OnceAMinute } from '../timing/pauses.js';

/** How many different errors a streak reports as soon as they occur. Any others wait for the next reminder. */
const MAX_KINDS = 5;

/** Called when a streak reports a failure or ends; `lasted` is how long the streak has lasted, ms. */
export interface FailureStreakListener {
  readonly failing: (reason: string, lasted: number) => void;
  readonly over: (lasted: number) => void;
}

export function workFailures(events: Events, work: BackgroundWork, queue?: string): FailureStreakListener {
  return {
    failing: (reason, lasted) => events.emit('work-failing', { work, queue, reason, lasted }),
    over: (lasted) => events.emit('work-restored', { work, queue, lasted }),
  };
}

export function connectionFailures(events: Events, connection: string): FailureStreakListener {
  return {
    failing: (reason, lasted) => events.emit('connection-lost', { connection, reason, lasted }),
    over: (lasted) => events.emit('connection-restored', { connection, lasted }),
  };
}

/** Reports failures of retried work: when it begins to fail, when the error changes, once a minute while it fails, and when it recovers. */
export class FailureStreak {
  /** When the failure began, on the monotonic clock; undefined while all is well. */
  #since: number | undefined;
  /** The errors reported since the failure began, without the numbers in them. */
  readonly #reported = new Set<string>();
  readonly #reminder: OnceAMinute;

  constructor(
    private readonly clock: Clock,
    private readonly listener: FailureStreakListener,
  ) {
    this.#reminder = new OnceAMinute(clock);
  }

  failed(reason: string): void {
    const now = this.clock.monotonic();
    this.#since ??= now;
    if (!this.#isNews(reason) && !this.#reminder.isDue) return;
    this.#reminder.reported();
    this.listener.failing(reason, now - this.#since);
  }

  /** Like {@link failed}, for a call to a store. Ignores a lost connection, which the connection itself reports. */
  callFailed(error: unknown): void {
    if (!hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED', 'OUTCOME_UNKNOWN')) this.failed(showFailure(error));
  }

  worked(): void {
    if (this.#since === undefined) return;
    const lasted = this.clock.monotonic() - this.#since;
    this.#since = undefined;
    this.#reported.clear();
    this.listener.over(lasted);
  }

  /** True for a new kind of error. Errors that differ only in numbers, such as ports and durations, are of the same kind. */
  #isNews(reason: string): boolean {
    const kind = reason.replace(/\d+/g, '');
    if (this.#reported.has(kind) || this.#reported.size === MAX_KINDS) return false;
    this.#reported.add(kind);
    return true;
  }
}
