import type { Claim } from './consumer-store.js';

/**
 * The port beside the stores: which queues there are. A store keeps one queue, and queues whose names are known only at run time
 * must be found before they can be handled.
 *
 * The directory and the stores may be in different places, so no call covers both. What holds them together:
 * - Whoever adds a message to a queue has {@link register}ed it less than {@link REGISTRATION_VALID} before, so a registered
 *   queue need not hold messages, but a queue that holds messages is registered.
 * - {@link retire} removes a registration only if it is still the one that was seen when, {@link REGISTRATION_VALID} or longer
 *   before, the queue was found empty.
 *
 * If a queue is registered in between, the registration is another one, and stays. If it is not, whatever was added relies on a
 * registration that was there before, and so was in the queue when it was looked at.
 */
export interface QueueDirectory {
  /**
   * Notes that a queue is about to get messages. What is sent to the same server afterwards happens after it.
   *
   * A crash right after leaves an empty queue registered until it is retired.
   */
  register(queue: string): Promise<void>;

  /** Notes which queues and families a process handles; they are never removed. */
  registerHandled(names: readonly string[]): Promise<void>;

  /** The queues and families that some process has handled. */
  handled(): Promise<string[]>;

  /** The names of queues that were registered and not forgotten since, or ever handled, in the order of their bytes, behind a name. */
  list(page: { readonly after: string; readonly limit: number }): Promise<string[]>;

  /**
   * Tells the id of the place where the queues are.
   *
   * @param proposed - what it gets if it has none; `''`: nothing
   * @returns `''` if it has none
   */
  place(proposed: string): Promise<string>;

  /**
   * Reads the registered queues of a family, in parts. One that is registered all the while is in some part, perhaps in several.
   *
   * @param cursor - of the part before; none for the first
   */
  listRegistered(family: string, cursor?: string): Promise<RegisteredPart>;

  /**
   * Removes a registration, if it is still this one. The name of the queue stays listed, unless the queue is `'forgotten'` and was never
   * handled by its own name.
   *
   * @returns whether it was
   */
  retire(registration: Registration, name: 'kept' | 'forgotten'): Promise<boolean>;

  /**
   * Listens for earlier due times and for aborts in all queues of a family until the returned function is called. Some may get lost.
   */
  watch(family: WatchedFamily, listener: FamilyListener): () => void;
}

/**
 * How long after a registration messages may still be added in reliance on it, ms: any call that adds some must have taken effect
 * by then, or never.
 */
export const REGISTRATION_VALID = 120_000;

export interface Registration {
  readonly queue: string;
  /** Differs from that of every other registration. */
  readonly stamp: string;
}

export interface WatchedFamily {
  readonly name: string;
  /** Whether messages of its queues may have groups. */
  readonly hasGroups: boolean;
}

export interface RegisteredPart {
  readonly registrations: readonly Registration[];
  /** For the next part; null: this was the last one. */
  readonly cursor: string | null;
}

export interface FamilyListener {
  /** The earliest due time of a queue became earlier: something falls due in `dueIn` ms. */
  onEarlierDue(queue: string, dueIn: number): void;
  /** The message of a claim was aborted. */
  onAbort?(queue: string, claim: Claim): void;
  /** Announcements are heard from now on, or again. Earlier ones may have been missed. */
  onListening(): void;
}
