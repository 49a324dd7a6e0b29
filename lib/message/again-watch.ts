import { textOf } from './untrusted-value.js';

/** How many calls of a process are watched: each costs some microseconds, most of them for its stack. */
const MAX_CALLS = 100;

/** How many are watched at a time. */
const MAX_AT_ONCE = 10;

/** Read only for a warning: until then, its text has not been made. */
interface Trace {
  readonly stack?: string;
}

/**
 * Finds out that the value of `again()` was not returned. Nobody can say which message a call is about. But if all messages end as handled
 * until the process holds none, none of them is due again.
 *
 * So it is never wrong about that, but may miss a call: if another message ends in another way, or the process is never idle.
 */
export class AgainWatch {
  readonly #holders = new Set<ReadonlySet<object>>();
  readonly #reported = new Set<string>();
  #calls: Trace[] = [];
  #callsLeft = MAX_CALLS;

  /** True if a call is watched. Otherwise, {@link ended} need not be called. */
  isWatching = false;

  /** Adds a set of held messages, which changes with what is held. */
  hold(messages: ReadonlySet<object>): void {
    this.#holders.add(messages);
  }

  /** Removes a set that {@link hold} has added. */
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

  /**
   * A message is not held any more.
   *
   * @param wasHandled - true if it is gone, because its handler is done
   * @returns where values were not returned; each place once
   */
  ended(wasHandled: boolean): string[] {
    if (wasHandled && !this.#isIdle()) return [];
    const calls = this.#forget();
    return wasHandled ? calls.map(placeOf).filter((place) => this.#isNew(place)) : [];
  }

  /** From now on, handlers may run whose messages nobody holds. Their calls cannot be told from others. */
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

/** Handlers call `again()` without saying where they are called from, so there is one for the process. */
export const againWatch = new AgainWatch();

const placeOf = (trace: Trace) =>
  /^ +at (.+)$/m.exec(textOf(() => trace.stack ?? '', Infinity))?.[1] ?? 'an unknown place';
