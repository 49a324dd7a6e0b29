import { DelayQueueError } from '../../message/delay-queue-errors.js';
import {
  FIRST_RECORD,
  formatRecord,
  isNewer,
  parseRecord,
  partitionsLeftBy,
  type PartitionRecord,
  widthOf,
  withoutFormers,
} from '../partitioned/partition-record.js';
import { hashSlot } from '../../redis/hash-slot.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import { nativeKeys, type NativeKeys } from './native-keys.js';
import { nativeScripts as scripts } from './native-scripts.js';

/** What partition 0 answers. */
export interface Agreed {
  readonly record: PartitionRecord;
  readonly isPaused: boolean;
}

/** What a partition is told. */
interface Agreement {
  readonly known: PartitionRecord;
  /** Replaces the known one. */
  readonly next?: PartitionRecord | undefined;
  /** Whether to pause a partition that learns of the record: `1`, `0`, or empty for no change. */
  readonly pause: string;
  /** Where to announce a change; empty: nowhere. */
  readonly channel: string;
}

/** The records that the partitions of a queue keep. */
export class PartitionRecords {
  readonly #prefix: string;
  readonly #queue: string;

  constructor(
    private readonly connections: RedisConnections,
    { prefix, queue }: { readonly prefix: string; readonly queue: string },
  ) {
    this.#prefix = prefix;
    this.#queue = queue;
  }

  /** Where changes are announced. */
  get channel(): string {
    return this.#keys(0).due;
  }

  async read(partition: number): Promise<PartitionRecord> {
    const { partitions } = this.#keys(partition);
    const reply = await this.connections.commands.send('GET', partitions);
    return reply.done ? FIRST_RECORD : this.#parse(partitions, reply.text());
  }

  /**
   * Agrees with partition 0 on the newest record.
   *
   * @param next - replaces the known one, unless somebody has changed that meanwhile
   */
  agree({ known, next }: { readonly known: PartitionRecord; readonly next?: PartitionRecord }): Promise<Agreed> {
    return this.#run(0, { known, next, pause: '', channel: this.channel });
  }

  /** Tells a partition what partition 0 has answered. One that learns of it is paused as partition 0 is. */
  tell(partition: number, { record, isPaused }: Agreed): Promise<Agreed> {
    return this.#run(partition, { known: record, pause: isPaused ? '1' : '0', channel: '' });
  }

  /**
   * Tells all partitions but the first. It does not fail if some cannot be reached.
   *
   * @returns the newest record that they know
   */
  async tellOthers(agreed: Agreed): Promise<PartitionRecord> {
    const others = Array.from({ length: widthOf(agreed.record) - 1 }, (_, i) => i + 1);
    const reached = others.filter((partition) => this.#isReached(partition));
    const answers = await Promise.allSettled(reached.map((partition) => this.tell(partition, agreed)));
    return answers.reduce(
      (newest, answer) =>
        answer.status === 'fulfilled' && isNewer(answer.value.record, newest) ? answer.value.record : newest,
      agreed.record,
    );
  }

  /**
   * The newest record that partitions have which can be reached; undefined: none has any.
   *
   * @param count - how many partitions to ask
   */
  async newest(count: number): Promise<PartitionRecord | undefined> {
    const reached = Array.from({ length: count }, (_, partition) => partition).filter((each) => this.#isReached(each));
    const answers = await Promise.allSettled(reached.map((partition) => this.read(partition)));
    const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const newest = records.reduce((one, other) => (isNewer(other, one) ? other : one), FIRST_RECORD);
    return newest === FIRST_RECORD ? undefined : newest;
  }

  /** Whether all partitions go by this record and are empty. */
  async areEmpty(record: PartitionRecord): Promise<boolean> {
    return (await this.#emptyOf(record)).every(Boolean);
  }

  /**
   * The record without those former numbers that no message can depend on: the partitions in question have no message, and take
   * none any more by a former record, because they go by this one. Undefined: all of them are needed.
   */
  async withoutUnneeded(record: PartitionRecord): Promise<PartitionRecord | undefined> {
    if (record.formers.length === 0) return undefined;
    const empty = await this.#emptyOf(record);
    const gone = record.formers.filter((former) => partitionsLeftBy(former, record).every((each) => empty[each]));
    return gone.length === 0 ? undefined : withoutFormers(record, gone);
  }

  /** For each partition, whether it is certain that it goes by this record and is empty. */
  async #emptyOf(record: PartitionRecord): Promise<boolean[]> {
    const text = formatRecord(record);
    const looks = Array.from({ length: widthOf(record) }, async (_, partition) => {
      if (!this.#isReached(partition)) return false;
      const { partitions, messages } = this.#keys(partition);
      // In this order: what is empty by then stays so, as far as former records are concerned.
      const [stored, count] = await Promise.all([
        this.connections.commands.send('GET', partitions),
        this.connections.commands.send('HLEN', messages),
      ]);
      return !stored.done && stored.text() === text && count.number() === 0;
    });
    const answers = await Promise.allSettled(looks);
    return answers.map((answer) => answer.status === 'fulfilled' && answer.value);
  }

  async #run(partition: number, { known, next, pause, channel }: Agreement): Promise<Agreed> {
    const keys = this.#keys(partition);
    const publish = this.connections.announcements.command;
    const args = { known: formatRecord(known), next: next ? formatRecord(next) : '', pause, channel, publish };
    const reply = await this.connections.commands.run(scripts.agree, { keys, args });
    return { record: this.#parse(keys.partitions, reply.text()), isPaused: reply.flag() };
  }

  #isReached(partition: number): boolean {
    const slot = hashSlot(this.#keys(partition).partitions);
    return this.connections.servers.reachOf(slot) !== 'lost';
  }

  #parse(key: string, text: string): PartitionRecord {
    const record = parseRecord(text);
    if (record) return record;
    throw new DelayQueueError(
      'STORE_REFUSED',
      `Key ${key} is no record of partitions: was it changed by somebody else?`,
    );
  }

  #keys(partition: number): NativeKeys {
    return nativeKeys(this.#prefix, this.#queue, partition);
  }
}
