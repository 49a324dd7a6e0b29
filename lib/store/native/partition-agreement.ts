import { DelayQueueError } from '../../message/delay-queue.errors.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import { nativeKeys, type NativeKeys } from './native.keys.js';
import { nativeScripts as scripts } from './native.scripts.js';

/** A queue as this process is configured. */
export interface PartitionedQueueName {
  readonly prefix: string;
  readonly queue: string;
  /** How many partitions it has. */
  readonly count: number;
}

/**
 * Makes sure that all processes spread a queue over the same number of partitions: otherwise they would not see each other's
 * messages.
 *
 * The number is kept in partition 0. The others keep a copy, so that each can refuse the offers of a process that has another
 * number in mind. A queue without partitions keeps nothing.
 */
export class PartitionAgreement {
  readonly count: number;
  readonly #queue: PartitionedQueueName;
  #underWay: Promise<void> | undefined;

  constructor(
    private readonly connections: RedisConnections,
    queue: PartitionedQueueName,
  ) {
    this.#queue = queue;
    this.count = queue.count;
  }

  /**
   * Agrees on the number of this process, and tells all partitions.
   *
   * @throws DelayQueueError `INVALID_OPTION` if there is another number, and the queue is not empty; others as any call
   */
  agree(): Promise<void> {
    return (this.#underWay ??= this.#agree().finally(() => (this.#underWay = undefined)));
  }

  /** How many partitions the queue has now, whatever this process is configured with. */
  async stored(): Promise<number> {
    const reply = await this.connections.commands.send('GET', this.#keys(0).partitions);
    return reply.done ? 1 : Number(reply.text());
  }

  async #agree(): Promise<void> {
    const { count } = this;
    const stored = await this.#ask(0);
    // Offers of others that arrive here between the two steps are not noticed: nothing covers several slots of a cluster.
    const agreed = stored !== count && (await this.#areEmpty(stored)) ? await this.#ask(stored) : stored;
    if (agreed !== count) throw this.#refusal(agreed);
    await Promise.all(this.#others(Math.max(stored, count)).map((keys) => this.#tell(keys)));
  }

  async #ask(emptied: number): Promise<number> {
    const call = { keys: this.#keys(0), args: { count: this.count, emptied } };
    return (await this.connections.commands.run(scripts.agree, call)).number();
  }

  async #areEmpty(partitions: number): Promise<boolean> {
    const lengths = this.#others(partitions).map((keys) => this.connections.commands.send('HLEN', keys.messages));
    return (await Promise.all(lengths)).every((reply) => reply.number() === 0);
  }

  async #tell({ partitions }: NativeKeys): Promise<void> {
    await this.connections.commands.send('SET', partitions, this.count);
  }

  /** The keys of all partitions but the first. */
  #others(partitions: number): NativeKeys[] {
    return Array.from({ length: partitions - 1 }, (_, i) => this.#keys(i + 1));
  }

  #keys(partition: number): NativeKeys {
    return nativeKeys(this.#queue.prefix, this.#queue.queue, partition);
  }

  #refusal(agreed: number): DelayQueueError {
    const { queue, count } = this.#queue;
    return new DelayQueueError(
      'INVALID_OPTION',
      `Queue '${queue}' has partitions: ${agreed}, but this process is configured with partitions: ${count}. Configure all ` +
        'processes alike; the number can change only while the queue is empty, dead letters included',
    );
  }
}
