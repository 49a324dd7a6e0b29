import { textOf } from './untrusted-value.js';

/** How many calls of a process are watched: each costs some microseconds, most of them for its stack. */
const MOST_CALLS = 100;

/** How many are watched at a time: each is looked at whenever a message is settled. */
const MOST_AT_ONCE = 10;

interface WatchedCall {
  /** Read only for a warning: until then, its text has not been made. */
  readonly trace: { readonly stack?: string };
  /** The messages that were held when it was made, and still are. */
  readonly held: Set<object>;
}

/**
 * Finds out whether a call of `again()` was in vain, because its value was not returned. Nobody can say which message a call is
 * about. But if every message that the process held at that time ends as handled, none of them is due again.
 *
 * So it is never wrong about that, but may miss a call: if another message of that time ends in another way.
 */
export class AgainWatch {
  readonly #holders = new Set<ReadonlySet<object>>();
  readonly #told = new Set<string>();
  #calls: readonly WatchedCall[] = [];
  #callsLeft = MOST_CALLS;

  /** Whether {@link ended} must be called. */
  get isWatching(): boolean {
    return this.#calls.length > 0;
  }

  /** Somebody holds messages: those that the set has at any time. */
  hold(messages: ReadonlySet<object>): void {
    this.#holders.add(messages);
  }

  /** Somebody holds no messages any more. */
  letGo(messages: ReadonlySet<object>): void {
    this.#holders.delete(messages);
  }

  /** @param callee - the function that was called */
  called(callee: (...parameters: never[]) => unknown): void {
    if (this.#callsLeft === 0 || this.#holders.size === 0 || this.#calls.length === MOST_AT_ONCE) return;
    this.#callsLeft--;
    const trace = {};
    Error.captureStackTrace(trace, callee);
    const held = new Set([...this.#holders].flatMap((messages) => [...messages]));
    this.#calls = [...this.#calls, { trace, held }];
  }

  /**
   * A message is not held any more.
   *
   * @param wasHandled - whether it is gone, because its handler is done
   * @returns where calls were made in vain; each place once
   */
  ended(message: object, wasHandled: boolean): string[] {
    if (!wasHandled) {
      this.#calls = this.#calls.filter(({ held }) => !held.has(message));
      return [];
    }
    for (const { held } of this.#calls) held.delete(message);
    const vain = this.#calls.filter(({ held }) => held.size === 0);
    if (vain.length > 0) this.#calls = this.#calls.filter(({ held }) => held.size > 0);
    return vain.map(({ trace }) => placeOf(trace)).filter((place) => this.#isNew(place));
  }

  /** From now on, handlers may run whose messages nobody holds. Their calls cannot be told from others. */
  stop(): void {
    this.#callsLeft = 0;
    this.#calls = [];
  }

  #isNew(place: string): boolean {
    const isNew = !this.#told.has(place);
    this.#told.add(place);
    return isNew;
  }
}

/** Handlers call `again()` without saying where they are called from, so there is one for the process. */
export const againWatch = new AgainWatch();

const placeOf = (trace: WatchedCall['trace']) =>
  /^ +at (.+)$/m.exec(textOf(() => trace.stack ?? '', Infinity))?.[1] ?? 'an unknown place';
