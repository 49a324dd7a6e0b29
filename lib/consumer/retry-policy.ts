import type { Events } from '../events/events.js';
import { type ComputedBackoff, DEFAULT_BACKOFF, type Retries } from '../message/retries.js';
import { parseDelay, readDelay } from '../message/duration.js';
import { DeferMessage, readComingAgain, RejectMessage, RetryMessage } from '../message/handler-results.js';
import type { Outcome } from '../store/consumer-store.js';
import { describeFailure, isInstance, isStrayPromise, showFailure } from '../message/failure.js';

/** Decides the outcome of a message whose handler threw. Never throws itself. */
export class RetryPolicy {
  constructor(
    private readonly options: {
      readonly attempts: number;
      readonly backoff: ComputedBackoff | ((attempt: number, error: unknown) => unknown);
    },
    private readonly events: Events,
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * @param attempt - the number of the failed attempt, from 1
   * @param own - of the message; undefined for most
   */
  outcomeOf(error: unknown, attempt: number, own?: Retries): Outcome {
    const deferral = isInstance(error, DeferMessage) && this.#read('DeferMessage', () => readComingAgain(error));
    if (deferral) return { kind: 'defer', ...deferral };
    const isRejected = isInstance(error, RejectMessage);
    if (isRejected || attempt >= (own?.attempts ?? this.options.attempts)) {
      const by = isRejected ? 'reject' : 'handler';
      return { kind: 'dead', error: JSON.stringify(describeFailure(error)), by };
    }
    const given = isInstance(error, RetryMessage)
      ? this.#read('RetryMessage', () => readDelay(error.delay))
      : undefined;
    return { kind: 'retry', delay: given ?? this.#delay(attempt, error, own?.backoff) };
  }

  /** Reads a handler's decision. Returns undefined if it was changed to something invalid, which counts as an ordinary failure. */
  #read<Decision>(name: string, read: () => Decision): Decision | undefined {
    try {
      return read();
    } catch (mistake) {
      this.events.note('misused', {
        problem: `A ${name} is invalid, which counts as a failed attempt: ${showFailure(mistake)}`,
      });
      return undefined;
    }
  }

  #delay(attempt: number, error: unknown, own: ComputedBackoff | undefined): number {
    const backoff = own ?? this.options.backoff;
    if (typeof backoff !== 'function') return this.#computedDelay(backoff, attempt);
    let problem: string;
    try {
      const result = backoff(attempt, error);
      const parsed = isStrayPromise(result) ? { problem: 'is a promise' } : parseDelay(result);
      if ('milliseconds' in parsed) return parsed.milliseconds;
      problem = `The result of the backoff function ${parsed.problem}; the default backoff is used`;
    } catch (mistake) {
      problem = `The backoff function failed; the default backoff is used: ${showFailure(mistake)}`;
    }
    this.events.note('misused', { problem });
    return this.#computedDelay(DEFAULT_BACKOFF, attempt);
  }

  #computedDelay(backoff: ComputedBackoff, attempt: number): number {
    const delay =
      backoff.type === 'fixed'
        ? backoff.delay
        : // Kept finite, because 0 × Infinity is NaN: a delay of 0 must stay 0 after very many attempts.
          Math.min(backoff.delay * Math.min(backoff.factor ** (attempt - 1), Number.MAX_VALUE), backoff.maxDelay);
    return Math.round(delay * (1 + backoff.jitter * (this.random() * 2 - 1)));
  }
}
