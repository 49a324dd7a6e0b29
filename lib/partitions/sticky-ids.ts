import { newOrigin } from '../message/message-id.js';
import { partitionOf } from '../message/partition-of.js';
import { setImmediate } from '../timing/event-loop.js';
import type { Partitions } from './partitions.js';

/**
 * Ends generated ids so that those of one turn of the event loop are in the same partition, and those of the next turn in the next
 * one: spread over all partitions, the offers of a turn could not travel together. A partition that does not answer is passed over.
 *
 * The end of such an id, in braces, decides on its partition.
 */
export class StickyIds {
  /** An end of ids for each partition. */
  readonly #origins: readonly string[];
  /** Which partition they are for. */
  readonly #partitionOfOrigin: ReadonlyMap<string, number>;
  readonly #first: number;
  #turns = 0;
  #isTurnBegun = false;

  constructor(private readonly partitions: number) {
    this.#origins = findOrigins(partitions);
    this.#partitionOfOrigin = new Map(this.#origins.map((origin, partition) => [origin, partition]));
    // Processes that start together go different ways.
    this.#first = partitionOf(newOrigin(), partitions);
  }

  /** @param reaches - tells which partitions of the queue answer */
  ending(reaches: Pick<Partitions, 'reachOf'>): string {
    if (!this.#isTurnBegun) {
      this.#isTurnBegun = true;
      setImmediate(() => this.#endTurn());
    }
    const partition = (this.#first + this.#turns) % this.partitions;
    const isReached = reaches.reachOf(partition) === 'ready';
    return this.#origins[isReached ? partition : this.#detour(partition, reaches)]!;
  }

  /** The partition that an id belongs to; for those generated here, without the hash. */
  partitionOf(id: string): number {
    const own = this.#partitionOfOrigin.get(id.slice(id.indexOf('{')));
    return own ?? partitionOf(id, this.partitions);
  }

  /** The partition that stands in for one that does not answer: another one each time, so that none gets all of its messages. */
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

/** Shares the endings of ids among the queues of a process, so that the ids of a turn go together in all of them. */
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
