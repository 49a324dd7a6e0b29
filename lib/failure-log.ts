import type { Logger } from '@nestjs/common';
import ms from 'ms';
import type { Clock } from './clock.js';
import { hasCode, showFailure } from './consumer/failure.js';

/** Milliseconds until a failure that lasts is told again. */
const REMINDER_INTERVAL = 60_000;

/** So many different errors are told at once while one failure lasts; further ones wait for the next reminder. */
const MOST_KINDS = 5;

export interface FailureLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is said while it fails, such as `orders: transfer failed`. */
  readonly failing: string;
  /** What is said when it does no longer, such as `orders: transfer works again`. */
  readonly over: string;
  readonly level?: 'warn' | 'error';
}

/**
 * Tells in the log of what is tried again until it works: once when it begins to fail, at once when the error is another,
 * otherwise once a minute, and once when it is over. However often it is tried, the log does not grow with it.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  /** When it began to fail, on the monotonic clock; undefined: it works. */
  #since: number | undefined;
  #remindAt = Infinity;
  /** The errors that were told since then. */
  readonly #told = new Set<string>();

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  failed(reason: string): void {
    const { clock, logger, failing, level = 'error' } = this.#options;
    const now = clock.monotonic();
    this.#since ??= now;
    if (now < this.#remindAt && !this.#isNews(reason)) return;
    this.#remindAt = now + REMINDER_INTERVAL;
    const lasted = now - this.#since;
    const duration = lasted < REMINDER_INTERVAL ? '' : ` for ${show(lasted)} now`;
    logger[level](`${failing}${duration}: ${reason.replace(/\.$/, '')}; it is retried until it works`);
  }

  /** As {@link failed}, of a call of a store. That there is no connection is the connection's own news, and told once. */
  callFailed(error: unknown): void {
    if (!hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED', 'OUTCOME_UNKNOWN')) this.failed(showFailure(error));
  }

  worked(): void {
    if (this.#since === undefined) return;
    const { clock, logger, over } = this.#options;
    const lasted = clock.monotonic() - this.#since;
    this.#since = undefined;
    this.#remindAt = Infinity;
    this.#told.clear();
    logger.log(lasted < REMINDER_INTERVAL ? over : `${over} after ${show(lasted)}`);
  }

  /** Numbers in it, such as ports and lengths of time, make no other error. */
  #isNews(reason: string): boolean {
    const kind = reason.replace(/\d+/g, '');
    if (this.#told.has(kind) || this.#told.size === MOST_KINDS) return false;
    this.#told.add(kind);
    return true;
  }
}

const show = (duration: number) => ms(duration, { long: true });
