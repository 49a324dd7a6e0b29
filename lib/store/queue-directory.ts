import type { Claim } from './consumer-store.js';

/**
 * The port that lists queues. A store keeps one queue, so queues with names known only at run time must be found before being handled.
 *
 * The directory and the stores may be on different servers, so no call covers both. Two rules keep them consistent:
 * - Whoever adds a message to a queue has {@link register}ed the queue less than {@link REGISTRATION_VALID} ms earlier. So a queue that
 *   holds messages is registered, but a registered queue may be empty.
 * - {@link retire} removes a registration only if it has not changed, and the queue was found empty {@link REGISTRATION_VALID} ms or longer
 *   after the registration was first seen.
 *
 * A registration made in between differs from the old one and stays. Without one, every message relied on the old registration, and so was
 * added before the queue was found empty.
 */
export interface QueueDirectory {
  /**
   * Notes that a queue is about to get messages. A crash right after the call leaves an empty queue registered until it is retired. Takes
   * effect before any call that is sent to the same server afterwards.
   */
  register(queue: string): Promise<void>;

  /** Notes which queues and families a process handles. These notes are never removed. */
  registerHandled(names: readonly string[]): Promise<void>;

  /** Returns the queues and families that some process has handled. */
  handled(): Promise<string[]>;

  /** Lists the queues that have ever been handled, or were registered and not forgotten since: the names after `after`, in byte order. */
  list(page: { readonly after: string; readonly limit: number }): Promise<string[]>;

  /** Returns the id of this set of queues, or `''` if it has none. @param proposed - the id to set if there is none; `''` sets none */
  place(proposed: string): Promise<string>;

  /**
   * Lists a family's registered queues in parts. A queue that stays registered throughout is in at least one part.
   * @param cursor - from the previous part; omitted for the first
   */
  listRegistered(family: string, cursor?: string): Promise<RegisteredPart>;

  /**
   * Removes a registration if it has not changed. The queue's name stays listed unless `name` is `'forgotten'` and no process has handled
   * the queue by its own name.
   * @returns true if the registration was removed
   */
  retire(registration: Registration, name: 'kept' | 'forgotten'): Promise<boolean>;

  /** Listens for earlier due times and aborts in a family's queues until the returned function is called. Announcements may get lost. */
  watch(family: WatchedFamily, listener: FamilyListener): () => void;
}

/** How long after a registration messages may be added to its queue, ms. A later call that adds messages cannot take effect. */
export const REGISTRATION_VALID = 120_000;

export interface Registration {
  readonly queue: string;
  /** Unique among all registrations. */
  readonly stamp: string;
}

export interface WatchedFamily {
  readonly name: string;
  /** True if messages of the family's queues may have groups. */
  readonly hasGroups: boolean;
}

export interface RegisteredPart {
  readonly registrations: readonly Registration[];
  /** For the next part; null after the last one. */
  readonly cursor: string | null;
}

export interface FamilyListener {
  /** Called when a message is announced that will fall due in `dueIn` ms, before anything else in the queue. */
  onEarlierDue(queue: string, dueIn: number): void;
  onAbort?(queue: string, claim: Claim): void;
  /** Called when announcements begin to arrive, or resume. Earlier ones may have been missed. */
  onListening(): void;
}
