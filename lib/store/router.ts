import type { MessageStore } from './message-store.js';
import type { Offer, OfferReceipt } from './producer-store.js';

/** Decides which store each message of a queue goes to. Chosen when the queue is opened. */
export interface Router {
  /** The stores that may hold messages. Replaced by a new list after each change. */
  readonly stores: readonly MessageStore[];
  /** Returns where a message goes. Valid as long as {@link stores} is the same list. */
  readonly route: (offer: Offer) => Destination;
  /** Creates the ending of a new message's id, if ids decide where messages go. */
  readonly idEnding?: (() => string) | undefined;
  /**
   * Asks the stores that may have a message, one after another, until one of them has found it.
   * @param isFound - default: every truthy answer says so
   */
  lookUp<Answer>(
    id: string,
    ask: (store: MessageStore) => Promise<Answer>,
    isFound?: (answer: Answer) => boolean,
  ): Promise<Answer>;
  /** Reads from all stores. */
  read<Result extends object>(look: (reading: Reading) => Promise<Result>): Promise<Result & Incomplete>;
  /** Runs `work` on all stores. Runs it again if this process discovers stores that it did not know. */
  withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result>;
  /** Checks that the queue can be served; absent if it always can. @throws DelayQueueError `INVALID_OPTION`; others as for any call */
  readonly check?: (() => Promise<void>) | undefined;
  /** The store for messages with groups, which is also among {@link stores}. Absent if messages have no groups. */
  readonly groups?: MessageStore | undefined;
  /** Present if the stores may change. */
  readonly changes?: RouterChanges | undefined;
}

export interface Destination {
  offer(offers: readonly Offer[]): Promise<readonly WriteOutcome[]>;
}

export type WriteOutcome = OfferReceipt | WriteFailure;

/** The outcome of an offer that was not written, or may not have been. */
export class WriteFailure {
  constructor(readonly error: unknown) {}
}

/** Follows changes of a queue's stores. */
export interface RouterChanges {
  /** Number of partitions over which new messages are spread. */
  readonly partitions: number;
  /**
   * Offers messages to the stores to which they now belong.
   * @param destination - where they belonged before
   * @param refusal - given by the destination; undefined: {@link Router.stores} has changed since
   */
  offerAgain(
    destination: Destination,
    offers: readonly Offer[],
    refusal?: Repartitioned,
  ): Promise<readonly WriteOutcome[]>;
  /** Notices changes at once or within `checkInterval` ms, and calls the listener after each, until the returned function is called. */
  follow(listener: () => void, checkInterval: number): () => void;
}

/** The refusal of a call because the queue's partitioning is not the one that the caller knew. Nothing was written. */
export class Repartitioned extends Error {
  /** @param partitioning - as stored */
  constructor(readonly partitioning: string) {
    super('The queue has other partitions.');
  }
}

export interface QueuePart {
  readonly store: MessageStore;
  /** The store's name in errors. */
  readonly name: string;
}

export interface Incomplete {
  /** Partitions that did not answer. Absent if all did. */
  readonly missing?: readonly number[];
}

/** Routes the messages of a queue that always has one store. */
export class PlainRouter implements Router {
  readonly stores: readonly [MessageStore];
  readonly route: () => MessageStore;

  constructor(
    store: MessageStore,
    readonly check?: () => Promise<void>,
  ) {
    this.stores = [store];
    this.route = () => store;
  }

  lookUp<Answer>(_id: string, ask: (store: MessageStore) => Promise<Answer>): Promise<Answer> {
    return ask(this.stores[0]);
  }

  read<Result>(look: (reading: Reading) => Promise<Result>): Promise<Result> {
    return look(new Reading(this.stores));
  }

  withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result> {
    return work([{ store: this.stores[0], name: 'partition 0' }]);
  }
}

/** One read of all of a queue's stores. Each store must answer. */
export class Reading {
  readonly stores: MessageStore[];

  constructor(stores: readonly MessageStore[]) {
    this.stores = [...stores];
  }

  /** Adds a store that is on the same server as the first one. */
  add(store: MessageStore): void {
    this.stores.push(store);
  }

  /** Asks every store. @returns the answers, in the order of the stores */
  async all<Answer>(call: (store: MessageStore) => Promise<Answer>): Promise<Answer[]> {
    const answers = await Promise.all([...this.stores.keys()].map((place) => this.one(place, call)));
    return answers.flatMap((answer) => (answer === undefined ? [] : [answer]));
  }

  /** Asks one store. @returns undefined if it does not answer and the read may go on without it */
  one<Answer>(place: number, call: (store: MessageStore) => Promise<Answer>): Promise<Answer | undefined> {
    return call(this.stores[place]!);
  }
}
