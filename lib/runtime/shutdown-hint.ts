import type { Events } from '../events/events.js';
import type { CancelTimer, Clock } from '../timing/clock.js';

/** How long after startup an application may take to listen for signals, ms. `enableShutdownHooks()` may follow `listen()`. */
const TIME_TO_LISTEN = 5000;

/** Notes that nothing listens for SIGTERM, which would kill handlers and leave their messages until their leases end. */
export class ShutdownHint {
  #cancelTimer: CancelTimer | undefined;

  constructor(
    private readonly clock: Pick<Clock, 'schedule'>,
    private readonly events: Events,
  ) {}

  /** Called when handlers have been started. */
  start(): void {
    this.#cancelTimer = this.clock.schedule(() => {
      if (process.listenerCount('SIGTERM') === 0) this.events.note('signals-ignored', { signal: 'SIGTERM' });
    }, TIME_TO_LISTEN);
  }

  stop(): void {
    this.#cancelTimer?.();
  }
}
