import type { MessageStore } from '../store/message-store.js';
import type { Offer } from '../store/producer-store.js';
import {
  type Destination,
  type Incomplete,
  type QueuePart,
  type Reading,
  Repartitioned,
  type Router,
  type RouterChanges,
  type WriteOutcome,
} from '../store/router.js';
import { placesOf, widthOf } from './partitioning.js';
import type { Partitions } from './partitions.js';
import { MAX_ROUNDS, Place, unstable } from './place-offers.js';
import { newOrigin } from '../message/message-id.js';
import { partitionOf } from '../message/partition-of.js';
import { systemClock } from '../timing/clock.js';
import { setImmediate } from '../timing/event-loop.js';

/** How long new messages go to one partition, ms, */
const MAX_STAY = 8;
/** or until it has got so many of this process, because more should use several servers at once. Only a turn may exceed this number. */
const IDS_PER_STAY = 32;

/** Routes messages by id in a queue that may have several partitions. With only one partition, works like {@link PlainRouter}. */
export class PartitionRouter implements Router, RouterChanges {
  readonly changes: RouterChanges = this;
  readonly check = () => this.known.agree();
  stores!: readonly MessageStore[];
  route!: (offer: Offer) => Destination;
  idEnding: (() => string) | undefined;
  /** The destination of offers that the only partition has refused. */
  readonly #again: Place;

  /** @param spreadOver - returns an id generator for the given number of partitions */
  constructor(
    private readonly known: Partitions,
    private readonly spreadOver: (partitions: number) => StickyIds,
  ) {
    this.#again = new Place(known, 0);
    this.#adopt();
    known.onChange(() => this.#adopt());
  }

  get partitions(): number {
    return this.known.partitioning.count;
  }

  #adopt(): void {
    const { known } = this;
    const { count, formers } = known.partitioning;
    const [first] = known.stores;
    const ids = count === 1 ? undefined : this.spreadOver(count);
    const places = Array.from({ length: count }, (_, partition) => new Place(known, partition));
    this.stores = known.stores;
    this.idEnding = ids && (() => ids.ending(known));
    if (ids) this.route = ({ id }) => places[ids.partitionOf(id)]!;
    else this.route = formers.length > 0 ? () => places[0]! : () => first!;
  }

  async offerAgain(
    destination: Destination,
    offers: readonly Offer[],
    refusal?: Repartitioned,
  ): Promise<readonly WriteOutcome[]> {
    const place = destination instanceof Place ? destination : this.#again;
    if (refusal) await this.known.reconcile(place.partition, refusal);
    return place.offerInTurn(offers);
  }

  follow(listener: () => void, checkInterval: number): () => void {
    const unlisten = this.known.onChange(listener);
    const unwatch = this.known.watch(checkInterval);
    return () => {
      unlisten();
      unwatch();
    };
  }

  async lookUp<Answer>(
    id: string,
    ask: (store: MessageStore) => Promise<Answer>,
    isFound: (answer: Answer) => boolean = Boolean,
  ): Promise<Answer> {
    const { known } = this;
    if (!known.isKnown) await known.learn();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { partitioning, stores } = known;
      const places = placesOf(id, partitioning);
      for (let at = 0; known.partitioning === partitioning; at++) {
        const place = places[at]!;
        try {
          const answer = await ask(stores[place]!);
          if (isFound(answer) || (at === places.length - 1 && known.partitioning === partitioning)) return answer;
        } catch (error) {
          if (!(error instanceof Repartitioned)) throw error;
          await known.reconcile(place, error);
          break;
        }
      }
    }
    throw unstable();
  }

  /** Reads the partitions that answer. Reads again if this process discovers partitions that it did not know. */
  async read<Result extends object>(look: (reading: Reading) => Promise<Result>): Promise<Result & Incomplete> {
    const { known } = this;
    for (;;) {
      if (!known.isKnown) await known.learn();
      // There may be partitions that this process does not know yet.
      if (widthOf(known.partitioning) === 1 && known.reachOf(0) === 'lost') await known.refresh();
      const { stores } = known;
      const reading = known.read();
      const [result] = await Promise.all([look(reading), reading.inTime(0, () => known.refresh())]);
      if (known.stores !== stores) continue;
      const missing = reading.end();
      return missing.length === 0 ? result : { ...result, missing };
    }
  }

  async withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result> {
    const { known } = this;
    for (;;) {
      if (!known.isKnown) await known.learn();
      const { stores } = known;
      const parts = stores.map((store, partition) => ({ store, name: `partition ${partition}` }));
      const [worked, refreshed] = await Promise.allSettled([work(parts), known.refresh()]);
      if (known.stores !== stores) continue;
      if (worked.status === 'rejected') throw worked.reason;
      if (refreshed.status === 'rejected') throw refreshed.reason;
      return worked.value;
    }
  }
}

/**
 * Generates id endings that put new messages into the same partition for a few milliseconds, so that they can share calls: those offered in
 * one turn of the event loop share the offer, and those due soon after each other share claims and settles. Partitions that do not answer
 * are skipped. An id's ending, in braces, decides its partition. In a queue with a rate, each id has the next partition instead, because a
 * partition that gets many messages at once can use only its share of the rate.
 */
export class StickyIds {
  /** One id ending for each partition. */
  readonly #origins: readonly string[];
  readonly #partitionOfOrigin: ReadonlyMap<string, number>;
  /** Counts the partitions used. Processes that start together begin with different ones. */
  #stays: number;
  /** When the current stay began. */
  #since = -Infinity;
  /** How many ids the current stay has got. */
  #ids = 0;
  #isTurnBegun = false;

  /** @param now - milliseconds since an arbitrary start; never goes back */
  constructor(
    private readonly partitions: number,
    private readonly changesAfter: 'each stay' | 'each id' = 'each stay',
    private readonly now: () => number = () => systemClock.monotonic(),
  ) {
    this.#origins = findOrigins(partitions);
    this.#partitionOfOrigin = new Map(this.#origins.map((origin, partition) => [origin, partition]));
    this.#stays = partitionOf(newOrigin(), partitions);
  }

  /** @param reaches - knows which of the queue's partitions answer */
  ending(reaches: Pick<Partitions, 'reachOf'>): string {
    if (this.changesAfter === 'each id') this.#stays++;
    else if (!this.#isTurnBegun) this.#beginTurn();
    this.#ids++;
    const partition = this.#stays % this.partitions;
    const isReached = reaches.reachOf(partition) === 'ready';
    return this.#origins[isReached ? partition : this.#detour(partition, reaches)]!;
  }

  /** Returns the partition of an id. For ids with an ending generated here, it is known without hashing. */
  partitionOf(id: string): number {
    const own = this.#partitionOfOrigin.get(id.slice(id.indexOf('{')));
    return own ?? partitionOf(id, this.partitions);
  }

  #beginTurn(): void {
    this.#isTurnBegun = true;
    setImmediate(() => (this.#isTurnBegun = false));
    const now = this.now();
    if (now < this.#since + MAX_STAY && this.#ids < IDS_PER_STAY) return;
    this.#stays++;
    this.#since = now;
    this.#ids = 0;
  }

  /** Returns a partition to use instead of one that does not answer. It differs each time, so that none gets all of the messages. */
  #detour(partition: number, reaches: Pick<Partitions, 'reachOf'>): number {
    const rounds = Math.floor(this.#stays / this.partitions);
    for (let i = 0; i < this.partitions; i++) {
      const other = (partition + rounds + i) % this.partitions;
      if (reaches.reachOf(other) === 'ready') return other;
    }
    return partition;
  }
}

/** Shares id endings among a process's queues. */
export const stickyIds = () => sharedIds('each stay');

/** Returns id endings that put each message into the next partition. */
export const evenIds = () => sharedIds('each id');

function sharedIds(changesAfter: 'each stay' | 'each id'): (partitions: number) => StickyIds {
  const byCount = new Map<number, StickyIds>();
  return (partitions) => {
    let known = byCount.get(partitions);
    if (!known) byCount.set(partitions, (known = new StickyIds(partitions, changesAfter)));
    return known;
  };
}

function findOrigins(partitions: number): string[] {
  const found = new Map<number, string>();
  while (found.size < partitions) {
    const origin = `{${newOrigin()}}`;
    found.set(partitionOf(origin, partitions), origin);
  }
  return Array.from({ length: partitions }, (_, partition) => found.get(partition)!);
}
