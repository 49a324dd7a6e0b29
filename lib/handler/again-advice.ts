import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '../clock.js';
import { CLOCK } from '../delay-queue.tokens.js';
import { SafeLogger } from '../safe-logger.js';

/** Milliseconds between two warnings about one queue. */
const WARNING_INTERVAL = 60_000;

/** A handled queue, as far as advice needs it. */
interface HandledQueue {
  /** Whether a handler of this process holds the message right now. */
  readonly holds: (id: string) => boolean;
  warnAgainAt: number;
}

/**
 * Warns when a message is offered, and kept, while a handler of this process holds it. Most likely that handler offers its own
 * id in order to be called again, and its loop would end without a word.
 */
@Injectable()
export class AgainAdvice {
  readonly #logger = new SafeLogger('DelayQueue');
  readonly #queues = new Map<string, HandledQueue>();

  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  watch(queue: string, holds: HandledQueue['holds']): void {
    this.#queues.set(queue, { holds, warnAgainAt: -Infinity });
  }

  onKept(queue: string, id: string): void {
    const handled = this.#queues.get(queue);
    const now = this.clock.monotonic();
    if (!handled?.holds(id) || now < handled.warnAgainAt) return;
    handled.warnAgainAt = now + WARNING_INTERVAL;
    this.#logger.warn(
      `${queue}: message '${id}' was offered while its handler runs, so the offer was ignored (created: false). ` +
        "To handle the same message again, let the handler end with: return again('1d')",
    );
  }
}
