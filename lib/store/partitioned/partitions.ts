import { DelayQueueError } from '../../message/delay-queue-errors.js';
import type { Offer, OfferReceipt } from '../producer-store.js';
import type { MessageStore } from '../message-store.js';
import type { Reach } from '../../redis/connection/redis-connection.js';
import { type Partitioning, placesOf } from './partitioning.js';
import type { Reading } from './reading.js';

/** The partitions of a queue, as this process knows them. Their number may change while it runs. */
export interface Partitions {
  /** By which calls about single messages find their partition. Another object after each change. */
  readonly partitioning: Partitioning;
  /** The store of each partition that may hold messages. Another list after each change. */
  readonly stores: readonly MessageStore[];
  /** The last of {@link stores}, if it has the messages that have groups; they are in no partition. */
  readonly groups?: MessageStore | undefined;
  /** What is known of the way to a partition; nothing is sent. */
  reachOf(partition: number): Reach;
  /** Begins a read of all partitions, as far as they answer. */
  read(): Reading;
  /** Whether the partitioning is known, so that {@link ready} has nothing to wait for. */
  readonly isReady: boolean;
  /** Must be awaited before the first call about a single message; undefined: the partitioning is known. */
  ready(): Promise<void> | undefined;
  /**
   * Makes the number of partitions the one that this process is configured with, or adopts what there is.
   *
   * @throws DelayQueueError `INVALID_OPTION` if the queue cannot be served here; others as any call
   */
  agree(): Promise<void>;
  /** Adopts the newest partitioning that partition 0 knows, or, while that is lost, the others. */
  refresh(): Promise<void>;
  /** Adopts the partitioning of a partition that has refused a call, or tells it the newer one. */
  reconcile(partition: number, refusal: Repartitioned): Promise<void>;
  /** As {@link MessageStore.offer} of a partition, but creates nothing: undefined for ids that are not in use there. */
  offerIfPresent(partition: number, offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]>;
  /** Notices changes at once or after `checkInterval` ms, until the returned function is called. */
  watch(checkInterval: number): () => void;
  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** A partition has refused a call, because it has another partitioning than the caller. Nothing was written. */
export class Repartitioned extends Error {
  constructor(readonly partitioning: Partitioning) {
    super('The queue has other partitions.');
  }
}

/** How often a call is repeated because the partitions have changed meanwhile; far more than they can. */
export const MOST_ROUNDS = 10;

/** The error of a call whose partitions change faster than it can be repeated. */
export function restless(): DelayQueueError {
  return new DelayQueueError('STORE_REFUSED', "The queue's partitions keep changing or disagree; try again later");
}

interface Question<Answer> {
  readonly ask: (store: MessageStore) => Promise<Answer>;
  readonly isFound: (answer: Answer) => boolean;
}

/** Asks the places of an id, one after the other, until one has found it. */
export async function lookUp<Answer>(partitions: Partitions, id: string, question: Question<Answer>): Promise<Answer> {
  const answer = await askPartitions(partitions, id, question);
  return !partitions.groups || question.isFound(answer) ? answer : question.ask(partitions.groups);
}

async function askPartitions<Answer>(
  partitions: Partitions,
  id: string,
  { ask, isFound }: Question<Answer>,
): Promise<Answer> {
  const ready = partitions.ready();
  if (ready) await ready;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { partitioning, stores } = partitions;
    const places = placesOf(id, partitioning);
    for (let at = 0; partitions.partitioning === partitioning; at++) {
      const place = places[at]!;
      try {
        const answer = await ask(stores[place]!);
        if (isFound(answer) || (at === places.length - 1 && partitions.partitioning === partitioning)) return answer;
      } catch (error) {
        if (!(error instanceof Repartitioned)) throw error;
        await partitions.reconcile(place, error);
        break;
      }
    }
  }
  throw restless();
}

/** Does something with all partitions; again, if there turn out to be others than this process knew. */
export async function withAll<Result>(
  partitions: Partitions,
  call: (stores: readonly MessageStore[]) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const ready = partitions.ready();
    if (ready) await ready;
    const { stores } = partitions;
    const [result] = await Promise.all([call(stores), partitions.refresh()]);
    if (partitions.stores === stores) return result;
  }
}
