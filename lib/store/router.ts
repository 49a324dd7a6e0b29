import type { MessageStore } from './message-store.js';
import type { Offer, OfferReceipt } from './producer-store.js';
import { Reading } from './reading.js';

/** Says where the messages of a queue go, and which stores it has. It is chosen when the queue is opened. */
export interface Router {
  /** The stores that may hold messages. Another list after each change. */
  readonly stores: readonly MessageStore[];
  /** Says where a message goes. The answer holds as long as {@link stores} is the same list. */
  readonly route: (offer: Offer) => Destination;
  /** Makes what the id of a new message ends with, if ids decide where messages go. */
  readonly idEnding?: (() => string) | undefined;
  /** Asks the stores that may have a message, one after the other, until one has found it. */
  lookUp<Answer>(id: string, question: Question<Answer>): Promise<Answer>;
  /** Looks at all stores. */
  read<Result extends object>(look: (reading: Reading) => Promise<Result>): Promise<Result & Incomplete>;
  /** Does something with all stores; again if there turn out to be others than this process knew. */
  withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result>;
  /**
   * Makes sure that the queue can be served here. Undefined: there is nothing to check.
   *
   * @throws DelayQueueError `INVALID_OPTION` if it cannot; others as any call
   */
  readonly check?: (() => Promise<void>) | undefined;
  /** Present if the stores may change. */
  readonly changes?: RouterChanges | undefined;
}

/** Where some messages go, in one call. A store is one. */
export interface Destination {
  offer(offers: readonly Offer[]): Promise<readonly WriteOutcome[]>;
}

/** What became of an offer of a call. */
export type WriteOutcome = OfferReceipt | WriteFailure;

/** An offer was not written, or is not known to be. */
export class WriteFailure {
  constructor(readonly error: unknown) {}
}

/** How a router keeps up with the stores of its queue. */
export interface RouterChanges {
  /** How many partitions new messages are spread over. */
  readonly partitions: number;
  /**
   * Offers messages wherever they belong by now.
   *
   * @param destination - where they belonged
   * @param refusal - of the destination; undefined: {@link Router.stores} has changed since
   */
  offerAgain(
    destination: Destination,
    offers: readonly Offer[],
    refusal?: Repartitioned,
  ): Promise<readonly WriteOutcome[]>;
  /**
   * Notices changes at once or after `checkInterval` ms, and calls the listener after each, until the returned function is called.
   */
  follow(listener: () => void, checkInterval: number): () => void;
}

/** A store has refused a call, because the queue is partitioned otherwise than the caller knew. Nothing was written. */
export class Repartitioned extends Error {
  /** @param partitioning - as it is stored */
  constructor(readonly partitioning: string) {
    super('The queue has other partitions.');
  }
}

/** A question about one message. */
export interface Question<Answer> {
  readonly ask: (store: MessageStore) => Promise<Answer>;
  readonly isFound: (answer: Answer) => boolean;
}

/** A store of a queue. */
export interface QueuePart {
  readonly store: MessageStore;
  /** What errors call it. */
  readonly name: string;
}

/** What a read of a queue may lack. */
export interface Incomplete {
  /** The partitions that did not answer; absent: none. */
  readonly missing?: readonly number[];
}

/** The route of all messages of a queue while it has one store. */
export function straightTo(store: MessageStore): () => MessageStore {
  return () => store;
}

/** The router of a queue that has one store, and never another. */
export class PlainRouter implements Router {
  readonly stores: readonly [MessageStore];
  readonly route: () => MessageStore;

  constructor(
    store: MessageStore,
    readonly check?: () => Promise<void>,
  ) {
    this.stores = [store];
    this.route = straightTo(store);
  }

  lookUp<Answer>(_id: string, { ask }: Question<Answer>): Promise<Answer> {
    return ask(this.stores[0]);
  }

  read<Result>(look: (reading: Reading) => Promise<Result>): Promise<Result> {
    return look(new Reading(this.stores));
  }

  withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result> {
    return work([{ store: this.stores[0], name: 'partition 0' }]);
  }
}
