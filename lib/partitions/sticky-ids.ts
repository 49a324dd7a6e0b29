import { newOrigin } from '../message/message-id.js';
import { partitionOf } from '../message/partition-of.js';
import { setImmediate } from '../timing/event-loop.js';
import type { Partitions } from './partitions.js';

/**
 * Generates id endings that put a turn's new messages into one partition, because offers spread over all partitions could not share a call.
 * The next turn uses the next partition. Skips partitions that do not answer. An id's ending, in braces, decides its partition.
 */
export class StickyIds {
  /** One id ending for each partition. */
  readonly #origins: readonly string[];
  readonly #partitionOfOrigin: ReadonlyMap<string, number>;
  readonly #first: number;
  #turns = 0;
  #isTurnBegun = false;

  constructor(private readonly partitions: number) {
    this.#origins = findOrigins(partitions);
    this.#partitionOfOrigin = new Map(this.#origins.map((origin, partition) => [origin, partition]));
    // Makes processes that start together begin with different partitions.
    this.#first = partitionOf(newOrigin(), partitions);
  }

  /** @param reaches - knows which of the queue's partitions answer */
  ending(reaches: Pick<Partitions, 'reachOf'>): string {
    if (!this.#isTurnBegun) {
      this.#isTurnBegun = true;
      setImmediate(() => this.#endTurn());
    }
    const partition = (this.#first + this.#turns) % this.partitions;
    const isReached = reaches.reachOf(partition) === 'ready';
    return this.#origins[isReached ? partition : this.#detour(partition, reaches)]!;
  }

  /** Returns the partition of an id. Ids generated here need no hash. */
  partitionOf(id: string): number {
    const own = this.#partitionOfOrigin.get(id.slice(id.indexOf('{')));
    return own ?? partitionOf(id, this.partitions);
  }

  /** Returns another partition for one that does not answer. It differs each time, so that none gets all of the messages. */
  #detour(partition: number, reaches: Pick<Partitions, 'reachOf'>): number {
    const rounds = Math.floor(this.#turns / this.partitions);
    for (let i = 0; i < this.partitions; i++) {
      const other = (partition + rounds + i) % this.partitions;
      if (reaches.reachOf(other) === 'ready') return other;
    }
    return partition;
  }

  #endTurn(): void {
    this.#isTurnBegun = false;
    this.#turns++;
  }
}

/** Shares id endings among a process' queues, so that all of them use the same partition in a turn. */
export function stickyIds(): (partitions: number) => StickyIds {
  const byCount = new Map<number, StickyIds>();
  return (partitions) => {
    let known = byCount.get(partitions);
    if (!known) byCount.set(partitions, (known = new StickyIds(partitions)));
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
