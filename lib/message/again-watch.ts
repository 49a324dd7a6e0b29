import { textOf } from './untrusted-value.js';

/** How many calls of a process are watched: each costs some microseconds, most of them for its stack. */
const MAX_CALLS = 100;

/** How many are watched at a time: each is looked at whenever a message is settled. */
const MAX_AT_ONCE = 10;

interface WatchedCall {
  /** Read only for a warning: until then, its text has not been made. */
  readonly trace: { readonly stack?: string };
  /** The messages that were held when it was made, and still are. */
  readonly held: Set<object>;
}

/**
 * Finds out that the value of `again()` was not returned. Nobody can say which message a call is about. But if every message that the
 * process held at that time ends as handled, none of them is due again.
 *
 * So it is never wrong about that, but may miss a call: if another message of that time ends in another way.
 */
export class AgainWatch {
  readonly #holders = new Set<ReadonlySet<object>>();
  readonly #reported = new Set<string>();
  #calls: readonly WatchedCall[] = [];
  #callsLeft = MAX_CALLS;

  /** How many calls are watched. While it is 0, {@link ended} need not be called. */
  watched = 0;

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
    if (this.#callsLeft === 0 || this.watched === MAX_AT_ONCE) return;
    const held = new Set([...this.#holders].flatMap((messages) => [...messages]));
    if (held.size === 0) return;
    this.#callsLeft--;
    const trace = {};
    Error.captureStackTrace(trace, callee);
    this.#watch([...this.#calls, { trace, held }]);
  }

  /**
   * A message is not held any more.
   *
   * @param wasHandled - true if it is gone, because its handler is done
   * @returns where values were not returned; each place once
   */
  ended(message: object, wasHandled: boolean): string[] {
    if (!wasHandled) {
      this.#watch(this.#calls.filter(({ held }) => !held.has(message)));
      return [];
    }
    for (const { held } of this.#calls) held.delete(message);
    const notReturned = this.#calls.filter(({ held }) => held.size === 0);
    if (notReturned.length > 0) this.#watch(this.#calls.filter(({ held }) => held.size > 0));
    return notReturned.map(({ trace }) => placeOf(trace)).filter((place) => this.#isNew(place));
  }

  /** From now on, handlers may run whose messages nobody holds. Their calls cannot be told from others. */
  stop(): void {
    this.#callsLeft = 0;
    this.#watch([]);
  }

  #watch(calls: readonly WatchedCall[]): void {
    this.#calls = calls;
    this.watched = calls.length;
  }

  #isNew(place: string): boolean {
    const isNew = !this.#reported.has(place);
    this.#reported.add(place);
    return isNew;
  }
}

/** Handlers call `again()` without saying where they are called from, so there is one for the process. */
export const againWatch = new AgainWatch();

const placeOf = (trace: WatchedCall['trace']) =>
  /^ +at (.+)$/m.exec(textOf(() => trace.stack ?? '', Infinity))?.[1] ?? 'an unknown place';
