import { textOf } from './untrusted-value.js';

/** The maximum number of calls watched per process. Each costs a few microseconds, mostly for its stack. */
const MAX_CALLS = 100;

/** The maximum number of calls watched at the same time. */
const MAX_AT_ONCE = 10;

/** A captured stack. The string is built only when a warning reads it. */
interface Trace {
  readonly stack?: string;
}

/**
 * Detects a result of `again()` that its handler did not return. A call cannot be matched with its message, but if every held message ends
 * as handled, no result was returned. No alarm is false, but it misses a call if a message ends otherwise or the process is never idle.
 */
export class AgainWatch {
  readonly #holders = new Set<ReadonlySet<object>>();
  readonly #reported = new Set<string>();
  #calls: Trace[] = [];
  #callsLeft = MAX_CALLS;

  /** True while a call is watched. Otherwise, {@link ended} need not be called. */
  isWatching = false;

  /** Watches a set of held messages. Its owner keeps the set up to date. */
  hold(messages: ReadonlySet<object>): void {
    this.#holders.add(messages);
  }

  letGo(messages: ReadonlySet<object>): void {
    this.#holders.delete(messages);
  }

  /** @param callee - the function that was called */
  called(callee: (...parameters: never[]) => unknown): void {
    if (this.#callsLeft === 0 || this.#calls.length === MAX_AT_ONCE || this.#isIdle()) return;
    this.#callsLeft--;
    const trace = {};
    Error.captureStackTrace(trace, callee);
    this.#calls.push(trace);
    this.isWatching = true;
  }

  /** Notes that a held message has ended. Returns the places that called `again()` without returning the result, each place once. */
  ended(wasHandled: boolean): string[] {
    if (wasHandled && !this.#isIdle()) return [];
    const calls = this.#forget();
    return wasHandled ? calls.map(placeOf).filter((place) => this.#isNew(place)) : [];
  }

  /** Stops watching: handlers may now run whose messages nobody holds, and their calls could not be told apart from others. */
  stop(): void {
    this.#callsLeft = 0;
    this.#forget();
  }

  #isIdle(): boolean {
    return [...this.#holders].every(({ size }) => size === 0);
  }

  #forget(): Trace[] {
    this.isWatching = false;
    return this.#calls.splice(0);
  }

  #isNew(place: string): boolean {
    const isNew = !this.#reported.has(place);
    this.#reported.add(place);
    return isNew;
  }
}

/** A single watch for the process, because `again()` does not know which handler calls it. */
export const againWatch = new AgainWatch();

const placeOf = (trace: Trace) =>
  /^ +at (.+)$/m.exec(textOf(() => trace.stack ?? '', Infinity))?.[1] ?? 'an unknown place';
