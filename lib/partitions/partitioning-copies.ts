import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hashSlot } from '../redis/cluster/hash-slot.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import {
  formatPartitioning,
  newestOf,
  parsePartitioning,
  type Partitioning,
  partitionsLeftBy,
  UNPARTITIONED,
  widthOf,
  withoutFormers,
} from './partitioning.js';
import { nativeKeys, type NativeKeys } from '../store/native/native-keys.js';
import { nativeFunctions } from '../store/native/native-library.js';

/** A partition's answer: the partitioning it has now, and whether it is paused. */
export interface Agreed {
  readonly partitioning: Partitioning;
  readonly isPaused: boolean;
}

/** The copies of a queue's partitioning: one in each partition. */
export class PartitioningCopies {
  constructor(
    private readonly connections: RedisConnections,
    private readonly of: { readonly prefix: string; readonly queue: string },
  ) {}

  /** The channel on which changes are announced. */
  get channel(): string {
    return this.#keys(0).due;
  }

  async read(partition: number): Promise<Partitioning> {
    const { partitions } = this.#keys(partition);
    const reply = await this.connections.commands.send('GET', partitions);
    return reply.done ? UNPARTITIONED : parse(partitions, reply.text());
  }

  /** Agrees with partition 0 on the newest partitioning. `next` replaces the known one, unless another process has already replaced it. */
  agree(known: Partitioning, next?: Partitioning): Promise<Agreed> {
    return this.#agree(0, { known, next: next ? formatPartitioning(next) : '', pause: '', channel: this.channel });
  }

  /** Updates a partition with partition 0's answer. A new partition is paused if partition 0 is. */
  update(partition: number, { partitioning, isPaused }: Agreed): Promise<Agreed> {
    return this.#agree(partition, { known: partitioning, next: '', pause: isPaused ? '1' : '0', channel: '' });
  }

  /** Updates every reachable partition except the first. Returns the newest partitioning known to any of them. */
  async updateOthers(agreed: Agreed): Promise<Partitioning> {
    const answers = await this.#askEach(widthOf(agreed.partitioning), async (partition) =>
      partition === 0 ? undefined : this.update(partition, agreed),
    );
    return newestOf(
      agreed.partitioning,
      answers.flatMap((answer) => answer?.partitioning ?? []),
    );
  }

  /** Returns the newest partitioning in the first `count` partitions, ignoring those that do not answer. Undefined if none has one. */
  async newest(count: number): Promise<Partitioning | undefined> {
    const answers = await this.#askEach(count, (partition) => this.read(partition));
    const newest = newestOf(
      UNPARTITIONED,
      answers.flatMap((answer) => answer ?? []),
    );
    return newest === UNPARTITIONED ? undefined : newest;
  }

  /** True if all partitions have this partitioning and no messages. */
  async areEmpty(partitioning: Partitioning): Promise<boolean> {
    return (await this.#withoutAny(partitioning, ['messages', 'followers'])).every(Boolean);
  }

  /**
   * Returns the partitioning without former counts that no message and no kept id depends on: the partitions concerned have none, and have
   * this partitioning, so calls that use a former one cannot fill them. Undefined if all counts are needed.
   */
  async withoutUnneeded(partitioning: Partitioning): Promise<Partitioning | undefined> {
    const { formers } = partitioning;
    if (formers.length === 0) return undefined;
    const empty = await this.#withoutAny(partitioning, ['messages', 'followers', 'kept']);
    const gone = formers.filter((former) => partitionsLeftBy(former, partitioning).every((each) => empty[each]));
    return gone.length === 0 ? undefined : withoutFormers(partitioning, gone);
  }

  /** Returns true for each partition that certainly has this partitioning and none of these keys. */
  #withoutAny(partitioning: Partitioning, parts: readonly (keyof NativeKeys)[]): Promise<(boolean | undefined)[]> {
    const text = formatPartitioning(partitioning);
    return this.#askEach(widthOf(partitioning), async (partition) => {
      const keys = this.#keys(partition);
      // The order matters: a partition that has this partitioning, and is then found empty, cannot be filled by calls with a former one.
      const [stored, count] = await Promise.all([
        this.connections.commands.send('GET', keys.partitions),
        this.connections.commands.send('EXISTS', ...parts.map((part) => keys[part])),
      ]);
      return !stored.done && stored.text() === text && count.number() === 0;
    });
  }

  /** Asks the first `count` partitions. Returns undefined for each that cannot be reached or does not answer. */
  #askEach<Answer>(count: number, ask: (partition: number) => Promise<Answer>): Promise<(Answer | undefined)[]> {
    const asked = Array.from({ length: count }, async (_, partition) => {
      const slot = hashSlot(this.#keys(partition).partitions);
      return this.connections.servers.reachOf(slot) === 'lost' ? undefined : ask(partition);
    });
    return Promise.all(asked.map((answer) => answer.catch(() => undefined)));
  }

  async #agree(
    partition: number,
    { known, ...rest }: { known: Partitioning; next: string; pause: string; channel: string },
  ) {
    const keys = this.#keys(partition);
    const args = {
      known: formatPartitioning(known),
      ...rest,
      database: this.connections.announcements.databaseArgument,
    };
    const reply = await this.connections.commands.run(nativeFunctions.agree, { keys, args });
    return { partitioning: parse(keys.partitions, reply.text()), isPaused: reply.flag() };
  }

  #keys(partition: number): NativeKeys {
    return nativeKeys(this.of.prefix, this.of.queue, partition);
  }
}

function parse(key: string, text: string): Partitioning {
  const partitioning = parsePartitioning(text);
  if (partitioning) return partitioning;
  throw new DelayQueueError(
    'STORE_REFUSED',
    `Key ${key} does not hold the partitioning of the queue: was it changed by somebody else?`,
  );
}
