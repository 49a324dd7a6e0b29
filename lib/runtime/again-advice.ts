import { Inject, Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import { OnceAMinute } from '../timing/pauses.js';
import { CLOCK } from './delay-queue-tokens.js';

interface WatchedQueue {
  /** True while a handler of this process holds the message. */
  readonly holds: (id: string) => boolean;
  readonly warning: OnceAMinute;
}

/** Warns of an ignored offer whose id a handler of this process holds: most likely its own, in a loop that would silently end. */
@Injectable()
export class AgainAdvice {
  readonly #queues = new Map<string, WatchedQueue>();

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly events: Events,
  ) {}

  watch(queue: string, holds: WatchedQueue['holds']): void {
    this.#queues.set(queue, { holds, warning: new OnceAMinute(this.clock) });
  }

  unwatch(queue: string): void {
    this.#queues.delete(queue);
  }

  onKept(queue: string, id: string): void {
    const watched = this.#queues.get(queue);
    if (!watched) return;
    // Checks the time first, because looking for the id visits every held message.
    if (!watched.warning.isDue || !watched.holds(id)) return;
    watched.warning.reported();
    this.events.note('offered-while-held', { queue, id });
  }
}
