import { type Channel, channel } from 'node:diagnostics_channel';
import { type DelayQueueEvent, type DelayQueueEvents, EVENT_NAMES, type EventName } from './delay-queue-events.js';
import type { Notes } from './notes.js';

/** An event or a note, for the parts of the library that listen. */
export type Reported = DelayQueueEvents & Notes;

/** Channels that publish events to any subscriber in the process. */
const CHANNELS = Object.fromEntries(
  EVENT_NAMES.map((name) => [name, channel(`nestjs-delay-queue:${name}`)]),
) as Readonly<Record<EventName, Channel>>;

/** Passes on events, for the process and the application, and notes, for the log. Either costs almost nothing without a listener. */
export class Events {
  readonly #listeners = new Map<keyof Reported, ((payload: never) => void)[]>();
  readonly #watchers: ((event: DelayQueueEvent) => void)[] = [];
  readonly #notedOnce = new Set<keyof Notes>();
  readonly #origin: Pick<DelayQueueEvent, 'instance'>;

  /** @param instance - the instance's name; undefined if it has none */
  constructor(instance?: string) {
    this.#origin = instance === undefined ? {} : { instance };
  }

  /** @param listener - must not throw */
  on<Name extends keyof Reported>(name: Name, listener: (payload: Reported[Name]) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  watch(watcher: (event: DelayQueueEvent) => void): void {
    this.#watchers.push(watcher);
  }

  /** True if anybody is listening. Check this before building an event that occurs for every message. */
  has(name: EventName): boolean {
    return this.#watchers.length > 0 || this.#listeners.has(name) || CHANNELS[name].hasSubscribers;
  }

  emit<Name extends EventName>(name: Name, event: DelayQueueEvents[Name]): void {
    this.#callListeners(name, event);
    const hasSubscribers = CHANNELS[name].hasSubscribers;
    if (this.#watchers.length === 0 && !hasSubscribers) return;
    const payload: unknown = this.complete(name, event);
    for (const watch of this.#watchers) watch(payload as DelayQueueEvent);
    if (hasSubscribers) CHANNELS[name].publish(payload);
  }

  /** Completes an event for listeners and observers. */
  complete<Name extends EventName>(name: Name, event: DelayQueueEvents[Name]): DelayQueueEvent<Name> {
    return { name, ...this.#origin, ...event };
  }

  /** Passes a note to the log, but to no observer. */
  note<Name extends keyof Notes>(name: Name, note: Notes[Name]): void {
    this.#callListeners(name, note);
  }

  /** Like {@link note}, but only the first time for each name, because every connection may report the same. */
  noteOnce<Name extends keyof Notes>(name: Name, note: Notes[Name]): void {
    if (!this.#notedOnce.has(name)) this.note(name, note);
    this.#notedOnce.add(name);
  }

  hasNotedOnce(name: keyof Notes): boolean {
    return this.#notedOnce.has(name);
  }

  #callListeners(name: keyof Reported, payload: object): void {
    const listeners = this.#listeners.get(name) as ((payload: object) => void)[] | undefined;
    if (listeners) for (const listener of listeners) listener(payload);
  }
}
