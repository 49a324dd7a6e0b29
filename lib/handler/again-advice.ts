import type { Clock } from '../timing/clock.js';
import type { Events } from '../events/events.js';

/** Milliseconds until the same is told of one queue again. */
const TELLING_INTERVAL = 60_000;

/** A handled queue, as far as advice needs it. */
interface HandledQueue {
  /** Whether a handler of this process holds the message right now. */
  readonly holds: (id: string) => boolean;
  tellAgainAt: number;
}

/**
 * Tells when a message is offered, and kept, while a handler of this process holds it. Most likely that handler offers its own
 * id in order to be called again, and its loop would end without a word.
 */
export class AgainAdvice {
  readonly #queues = new Map<string, HandledQueue>();

  constructor(
    private readonly clock: Clock,
    private readonly events: Events,
  ) {}

  watch(queue: string, holds: HandledQueue['holds']): void {
    this.#queues.set(queue, { holds, tellAgainAt: -Infinity });
  }

  onKept(queue: string, id: string): void {
    const handled = this.#queues.get(queue);
    const now = this.clock.monotonic();
    if (!handled?.holds(id) || now < handled.tellAgainAt) return;
    handled.tellAgainAt = now + TELLING_INTERVAL;
    this.events.emit('offeredWhileHeld', { queue, id });
  }
}
