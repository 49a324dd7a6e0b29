import type { BackgroundWork } from '../message/delay-queue-events.js';
import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { Clock } from '../timing/clock.js';
import { failurePause, Pauses } from '../timing/pauses.js';

export interface WorkSettings {
  readonly work: BackgroundWork;
  readonly queue: string;
  readonly clock: Clock;
  readonly events: Events;
}

/** Repeats background work that must continue: reports failures, and pauses longer after each consecutive one. */
export class RetriedWork {
  readonly #streak: FailureStreak;
  readonly #pauses: Pauses;
  #failures = 0;

  constructor({ work, queue, clock, events }: WorkSettings) {
    this.#streak = new FailureStreak(clock, workFailures(events, work, queue));
    this.#pauses = new Pauses(clock);
  }

  /** @returns undefined after a failure and its pause */
  async attempt<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
    let result: Result;
    try {
      result = await run();
    } catch (error) {
      this.#streak.callFailed(error);
      await this.pause(failurePause(++this.#failures));
      return undefined;
    }
    this.#failures = 0;
    this.#streak.worked();
    return result;
  }

  /** Resolves after `length` ms, or when {@link end} is called. */
  pause(length: number): Promise<void> {
    return this.#pauses.take(length);
  }

  /** Ends the current pauses. */
  end(): void {
    this.#pauses.end();
  }
}
