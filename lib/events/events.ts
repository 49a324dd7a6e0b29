import type { DelayQueueEvent, DelayQueueEvents, EventName } from './delay-queue-events.js';

type Listener<Name extends EventName> = (event: DelayQueueEvents[Name]) => void;

/** The event emitter that all parts of a process share. An event without a listener costs next to nothing. */
export class Events {
  readonly #listeners = new Map<EventName, Listener<never>[]>();
  readonly #watchers: ((event: DelayQueueEvent) => void)[] = [];

  /** @param listener - must not throw */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  /** Listens for every event. */
  watch(watcher: (event: DelayQueueEvent) => void): void {
    this.#watchers.push(watcher);
  }

  /** Whether there is a listener. Ask before you build an event that occurs for every message. */
  has(name: EventName): boolean {
    return this.#watchers.length > 0 || this.#listeners.has(name);
  }

  emit<Name extends EventName>(name: Name, event: DelayQueueEvents[Name]): void {
    for (const listener of (this.#listeners.get(name) ?? []) as Listener<Name>[]) listener(event);
    if (this.#watchers.length === 0) return;
    const told = { name, ...event } as DelayQueueEvent;
    for (const watch of this.#watchers) watch(told);
  }
}
