import type { MessageStore } from './message-store.js';
import type { Offer, OfferReceipt } from './producer-store.js';

/** Decides which store a message of a queue goes to. Chosen when the queue is opened. */
export interface Router {
  /** The stores that may hold messages. A new list after each change. */
  readonly stores: readonly MessageStore[];
  /** Returns where a message goes. Valid as long as {@link stores} is the same list. */
  readonly route: (offer: Offer) => Destination;
  /** Makes the ending of a new message's id, if ids decide where messages go. */
  readonly idEnding?: (() => string) | undefined;
  /** Asks the stores that may have a message, one after the other, until one has found it. */
  lookUp<Answer>(id: string, question: Question<Answer>): Promise<Answer>;
  /** Reads from all stores. */
  read<Result extends object>(look: (reading: Reading) => Promise<Result>): Promise<Result & Incomplete>;
  /** Does something with all stores. Repeats it if there turn out to be stores that this process did not know. */
  withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result>;
  /** Checks that the queue can be served here. Absent: always. @throws DelayQueueError `INVALID_OPTION` if not; others like any call */
  readonly check?: (() => Promise<void>) | undefined;
  /** The store of the messages with groups, which is also among {@link stores}. Absent: no message has a group. */
  readonly groups?: MessageStore | undefined;
  /** Present if the stores may change. */
  readonly changes?: RouterChanges | undefined;
}

export interface Destination {
  offer(offers: readonly Offer[]): Promise<readonly WriteOutcome[]>;
}

export type WriteOutcome = OfferReceipt | WriteFailure;

/** An offer was not written, or may not have been. */
export class WriteFailure {
  constructor(readonly error: unknown) {}
}

/** Keeps up with changes of a queue's stores. */
export interface RouterChanges {
  /** Number of partitions over which new messages are spread. */
  readonly partitions: number;
  /**
   * Offers messages to the stores to which they now belong.
   * @param destination - where they belonged before
   * @param refusal - of the destination; undefined: {@link Router.stores} has changed since
   */
  offerAgain(
    destination: Destination,
    offers: readonly Offer[],
    refusal?: Repartitioned,
  ): Promise<readonly WriteOutcome[]>;
  /** Notices changes at once or within `checkInterval` ms, and calls the listener after each, until the returned function is called. */
  follow(listener: () => void, checkInterval: number): () => void;
}

/** Refusal of a call because the queue has another partitioning than the caller knew. Nothing was written. */
export class Repartitioned extends Error {
  /** @param partitioning - as it is stored */
  constructor(readonly partitioning: string) {
    super('The queue has other partitions.');
  }
}

export interface Question<Answer> {
  readonly ask: (store: MessageStore) => Promise<Answer>;
  readonly isFound: (answer: Answer) => boolean;
}

export interface QueuePart {
  readonly store: MessageStore;
  /** Its name in errors. */
  readonly name: string;
}

export interface Incomplete {
  /** The partitions that did not answer. Absent: none. */
  readonly missing?: readonly number[];
}

/** Routes all messages of a queue to its only store. */
export function straightTo(store: MessageStore): () => MessageStore {
  return () => store;
}

/** The router of a queue that always has one store. */
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

/** One reading from all stores of a queue. Each store must answer. */
export class Reading {
  readonly stores: MessageStore[];

  constructor(stores: readonly MessageStore[]) {
    this.stores = [...stores];
  }

  /** Adds a store on the server of the first one. */
  add(store: MessageStore): void {
    this.stores.push(store);
  }

  /** Asks every store. @returns the answers, in the order of the stores */
  async all<Answer>(call: (store: MessageStore) => Promise<Answer>): Promise<Answer[]> {
    const answers = await Promise.all([...this.stores.keys()].map((place) => this.one(place, call)));
    return answers.flatMap((answer) => (answer === undefined ? [] : [answer]));
  }

  /** Asks one store. @returns undefined if it does not answer, and the result can do without it */
  one<Answer>(place: number, call: (store: MessageStore) => Promise<Answer>): Promise<Answer | undefined> {
    return call(this.stores[place]!);
  }
}
