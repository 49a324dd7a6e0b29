import { type MessageIdGenerator, newOrigin } from '../message/message-id.js';
import { partitionOf } from '../message/partition-of.js';
import { setImmediate } from '../timing/event-loop.js';

/**
 * Generates ids of which those of one turn of the event loop are in the same partition, and those of the next turn in the next
 * one: spread over all partitions, the offers of a turn could not travel together.
 *
 * The end of such an id, in braces, decides on its partition.
 */
export class StickyIds {
  /** An end of ids for each partition. */
  readonly #origins: readonly string[];
  /** Which partition they are for. */
  readonly #partitionOfOrigin: ReadonlyMap<string, number>;
  #partition: number;
  #isTurnBegun = false;

  constructor(
    private readonly ids: MessageIdGenerator,
    private readonly partitions: number,
  ) {
    this.#origins = findOrigins(partitions);
    this.#partitionOfOrigin = new Map(this.#origins.map((origin, partition) => [origin, partition]));
    // Processes that start together go different ways.
    this.#partition = partitionOf(newOrigin(), partitions);
  }

  next(): string {
    if (!this.#isTurnBegun) {
      this.#isTurnBegun = true;
      setImmediate(() => this.#endTurn());
    }
    return this.ids.next(this.#origins[this.#partition]);
  }

  /** The partition that an id belongs to; for those generated here, without the hash. */
  partitionOf(id: string): number {
    const own = this.#partitionOfOrigin.get(id.slice(id.indexOf('{')));
    return own ?? partitionOf(id, this.partitions);
  }

  #endTurn(): void {
    this.#isTurnBegun = false;
    this.#partition = (this.#partition + 1) % this.#origins.length;
  }
}

function findOrigins(partitions: number): string[] {
  const found = new Map<number, string>();
  while (found.size < partitions) {
    const origin = `{${newOrigin()}}`;
    found.set(partitionOf(origin, partitions), origin);
  }
  return Array.from({ length: partitions }, (_, partition) => found.get(partition)!);
}
