import type { CancelTimer, Clock } from '../../timing/clock.js';

/** How long an unused connection stays open while the application starts, ms. */
const IDLE = 250;

interface Resting {
  readonly isUsed: boolean;
  readonly isResting: boolean;
  rest(): void;
  connect(): void;
}

/**
 * Knows when the application has started. Until then, connections are open only while used: an open one keeps the process alive, and Nest
 * does not tell this module if another hook makes startup fail.
 */
export class Startup {
  readonly #connections = new Set<Resting>();
  #isDone = false;
  #cancelRest: CancelTimer | undefined;

  constructor(private readonly clock: Clock) {}

  opened(connection: Resting): void {
    if (this.#isDone) return;
    this.#connections.add(connection);
    this.#restWhenIdle();
  }

  closed(connection: Resting): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#cancelRest?.();
  }

  done(): void {
    this.#isDone = true;
    this.#cancelRest?.();
    for (const connection of this.#connections) if (connection.isResting) connection.connect();
    this.#connections.clear();
  }

  #restWhenIdle(): void {
    this.#cancelRest?.();
    this.#cancelRest = this.clock.schedule(() => {
      const connections = [...this.#connections];
      if (connections.some(({ isUsed }) => isUsed)) this.#restWhenIdle();
      else for (const connection of connections) connection.rest();
    }, IDLE);
  }
}
