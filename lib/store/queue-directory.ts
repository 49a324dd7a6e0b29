import type { Claim } from './consumer-store.js';

/**
 * The port that lists queues. A store keeps one queue, so queues whose names become known only at run time must be found before they can be
 * handled.
 *
 * The directory and the stores may be on different servers, so no call covers both. Two rules keep them consistent:
 * - Whoever adds a message to a queue has {@link register}ed the queue less than {@link REGISTRATION_VALID} before. So a queue that holds
 *   messages is registered, but a registered queue may be empty.
 * - {@link retire} removes a registration only if it has not changed, and was first seen {@link REGISTRATION_VALID} or longer before the
 *   queue was found empty.
 *
 * A registration made in between is a different one and stays. Otherwise, whatever was added relied on the old registration, so it was in
 * the queue before the queue was found empty.
 */
export interface QueueDirectory {
  /**
   * Notes that a queue is about to get messages. A crash right after the call leaves an empty queue registered until it is retired. Runs
   * before any call that is sent to the same server afterwards.
   */
  register(queue: string): Promise<void>;

  /** Notes which queues and families a process handles. They are never removed. */
  registerHandled(names: readonly string[]): Promise<void>;

  /** Returns the queues and families that some process has handled. */
  handled(): Promise<string[]>;

  /** Lists the names after `after`, by their bytes, of queues that were ever handled, or registered and not forgotten since. */
  list(page: { readonly after: string; readonly limit: number }): Promise<string[]>;

  /** Returns the id of this set of queues, or `''` if it has none. @param proposed - the id to set if there is none; `''`: sets none */
  place(proposed: string): Promise<string>;

  /**
   * Reads the registered queues of a family in parts. A queue that stays registered throughout is in some part, perhaps in several.
   * @param cursor - of the previous part; none for the first
   */
  listRegistered(family: string, cursor?: string): Promise<RegisteredPart>;

  /**
   * Removes a registration if it has not changed. The name of the queue stays listed unless it is to be `'forgotten'` and was never handled
   * by its own name.
   * @returns true if the registration was removed
   */
  retire(registration: Registration, name: 'kept' | 'forgotten'): Promise<boolean>;

  /** Listens for earlier due times and for aborts in all queues of a family until the returned function is called. Some may get lost. */
  watch(family: WatchedFamily, listener: FamilyListener): () => void;
}

/** How long messages may be added in reliance on a registration, ms. A later call that adds some cannot take effect. */
export const REGISTRATION_VALID = 120_000;

export interface Registration {
  readonly queue: string;
  /** Unique among all registrations. */
  readonly stamp: string;
}

export interface WatchedFamily {
  readonly name: string;
  /** True if messages of its queues may have groups. */
  readonly hasGroups: boolean;
}

export interface RegisteredPart {
  readonly registrations: readonly Registration[];
  /** For the next part; null after the last one. */
  readonly cursor: string | null;
}

export interface FamilyListener {
  /** Something falls due in `dueIn` ms, earlier than anything else in the queue. */
  onEarlierDue(queue: string, dueIn: number): void;
  onAbort?(queue: string, claim: Claim): void;
  /** Called when announcements begin to arrive, or resume. Earlier ones may have been missed. */
  onListening(): void;
}
