import { textOf } from './untrusted-value.js';

/** The maximum number of watched calls per process: each costs some microseconds, most of them for its stack. */
const MAX_CALLS = 100;

/** The maximum number of calls watched at a time. */
const MAX_AT_ONCE = 10;

/** Read only for a warning: the stack's text is not made before. */
interface Trace {
  readonly stack?: string;
}

/**
 * Detects that the value of `again()` was not returned. No call can be matched with its message, but if all messages end as handled until
 * none is held, none is due again. Never reports wrongly, but misses calls if others end otherwise or the process is never idle.
 */
export class AgainWatch {
  readonly #holders = new Set<ReadonlySet<object>>();
  readonly #reported = new Set<string>();
  #calls: Trace[] = [];
  #callsLeft = MAX_CALLS;

  /** True if a call is watched. Otherwise, {@link ended} need not be called. */
  isWatching = false;

  /** Adds a live set of held messages. */
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

  /** Notes that a message is no longer held, and if it was handled. Returns the places, each once, where values were not returned. */
  ended(wasHandled: boolean): string[] {
    if (wasHandled && !this.#isIdle()) return [];
    const calls = this.#forget();
    return wasHandled ? calls.map(placeOf).filter((place) => this.#isNew(place)) : [];
  }

  /** Stops watching: from now on, handlers may run whose messages nobody holds, and their calls cannot be told from others. */
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

/** One for the process, because `again()` does not know which handler calls it. */
export const againWatch = new AgainWatch();

const placeOf = (trace: Trace) =>
  /^ +at (.+)$/m.exec(textOf(() => trace.stack ?? '', Infinity))?.[1] ?? 'an unknown place';
