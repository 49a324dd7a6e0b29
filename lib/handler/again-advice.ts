import type { Clock } from '../timing/clock.js';
import type { Events } from '../events/events.js';

/** Milliseconds until the same is told of one queue again. */
const TELLING_INTERVAL = 60_000;

/** A handled queue, as far as advice needs it. */
interface WatchedQueue {
  /** Whether a handler of this process holds the message right now. */
  readonly holds: (id: string) => boolean;
  tellAgainAt: number;
}

/**
 * Tells when a message is offered, and kept, while a handler of this process holds it. Most likely that handler offers its own
 * id in order to be called again, and its loop would end without a word.
 */
export class AgainAdvice {
  readonly #queues = new Map<string, WatchedQueue>();

  constructor(
    private readonly clock: Clock,
    private readonly events: Events,
  ) {}

  watch(queue: string, holds: WatchedQueue['holds']): void {
    this.#queues.set(queue, { holds, tellAgainAt: -Infinity });
  }

  onKept(queue: string, id: string): void {
    const watched = this.#queues.get(queue);
    if (!watched) return;
    const now = this.clock.monotonic();
    // The time first: to look for the id means to look at every message that is held.
    if (now < watched.tellAgainAt || !watched.holds(id)) return;
    watched.tellAgainAt = now + TELLING_INTERVAL;
    this.events.emit('offeredWhileHeld', { queue, id });
  }
}
