import type { Logger } from '@nestjs/common';
import { DEFAULTS } from '../delay-queue.options.js';
import { type ResolvedBackoff, type ResolvedQueueOptions, resolveQueueOptions } from '../delay-queue.options.schema.js';
import { LONGEST_DELAY, parseDuration } from '../duration.js';
import { DeferMessage, RejectMessage } from '../handler/handler-results.js';
import type { MessageFailure } from '../message.js';
import type { Outcome } from '../store/message-store.js';

const STACK_LINES = 6;
const LONGEST_TEXT = 2000;

/** Decides what becomes of a message whose handler threw. */
export class RetryPolicy {
  constructor(
    private readonly options: Pick<ResolvedQueueOptions, 'attempts' | 'backoff'>,
    private readonly logger: Logger,
    private readonly random: () => number = Math.random,
  ) {}

  /** @param attempt - the one that failed, 1 for the first */
  outcomeOf(error: unknown, attempt: number): Outcome {
    if (error instanceof DeferMessage) return { kind: 'defer', delay: error.delay };
    if (error instanceof RejectMessage || attempt >= this.options.attempts) {
      return { kind: 'dead', error: JSON.stringify(describeFailure(error)) };
    }
    return { kind: 'retry', delay: this.#delay(attempt, error) };
  }

  #delay(attempt: number, error: unknown): number {
    const { backoff } = this.options;
    if (typeof backoff !== 'function') return this.#computedDelay(backoff, attempt);
    try {
      const parsed = parseDuration(backoff(attempt, error), { min: 0, max: LONGEST_DELAY });
      if ('milliseconds' in parsed) return parsed.milliseconds;
      this.logger.error(`The backoff function's result ${parsed.problem}; the default backoff is used`);
    } catch (mistake) {
      this.logger.error(`The backoff function threw ${String(mistake)}; the default backoff is used`);
    }
    return this.#computedDelay(defaultBackoff, attempt);
  }

  #computedDelay(backoff: Exclude<ResolvedBackoff, (...args: never) => unknown>, attempt: number): number {
    const delay =
      backoff.type === 'fixed'
        ? backoff.delay
        : // A finite factor, because no delay at all must stay none after a great many attempts.
          Math.min(backoff.delay * Math.min(backoff.factor ** (attempt - 1), Number.MAX_VALUE), backoff.maxDelay);
    return Math.round(delay * (1 + backoff.jitter * (this.random() * 2 - 1)));
  }
}

const defaultBackoff = resolveQueueOptions({ backoff: DEFAULTS.queue.backoff }).backoff as Exclude<
  ResolvedBackoff,
  (...args: never) => unknown
>;

/** An error as logs and dead letters keep it: bounded, so that a huge one cannot fill Redis, whatever was thrown. */
export function describeFailure(error: unknown): MessageFailure {
  const { name, message, stack } =
    error instanceof Error ? error : { name: 'NonError', message: error, stack: undefined };
  const lines = stack && text(stack).split('\n').slice(0, STACK_LINES).join('\n');
  return { name: text(name), message: text(message), ...(lines && { stack: lines }) };
}

function text(value: unknown): string {
  try {
    return String(value).slice(0, LONGEST_TEXT);
  } catch {
    // An object without a prototype, or whose toString throws.
    return 'a value that cannot be shown as text';
  }
}
