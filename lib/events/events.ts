import type { DelayQueueEvents, EventName } from './delay-queue-events.js';

type Listener<Name extends EventName> = (event: DelayQueueEvents[Name]) => void;

/** Where all that happens is told. Whoever wants to know subscribes; telling costs nothing where nobody does. */
export class Events {
  readonly #listeners = new Map<EventName, Listener<never>[]>();

  /** @param listener - must not throw */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  /** Whether anybody listens; for what happens so often that an event would cost. */
  has(name: EventName): boolean {
    return this.#listeners.has(name);
  }

  emit<Name extends EventName>(name: Name, event: DelayQueueEvents[Name]): void {
    for (const listener of (this.#listeners.get(name) ?? []) as Listener<Name>[]) listener(event);
  }
}
