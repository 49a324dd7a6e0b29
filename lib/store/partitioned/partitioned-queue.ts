import type { MessageCounts, MessageState } from '../../message/message.js';
import type { PageRequest, QueueStatus, StoredPage, TypeCountPage, WholeQueue } from '../admin-store.js';
import { listMerged } from './merged-list.js';
import { countTypesInTurn, listInTurn } from './list-in-turn.js';
import { widthOf } from './partitioning.js';
import type { Partitions } from './partitions.js';
import type { Reading } from './reading.js';
import { writeAll } from './write-all.js';

/** Several partitions as one queue. */
export class PartitionedQueue implements WholeQueue {
  constructor(private readonly partitions: Partitions) {}

  async status(): Promise<QueueStatus> {
    return this.#read(async (reading) => (await reading.all((partition) => partition.status())).reduce(add));
  }

  /** Partition by partition. */
  countTypes(cursor?: string): Promise<TypeCountPage> {
    return this.#read((reading) => countTypesInTurn(reading, cursor));
  }

  async pause(): Promise<void> {
    await writeAll(this.partitions, 'pause', (partition) => partition.pause());
  }

  async resume(): Promise<void> {
    await writeAll(this.partitions, 'resume', (partition) => partition.resume());
  }

  clear(): Promise<number> {
    return writeAll(this.partitions, 'clear', async (partition, note) => note(await partition.clear()));
  }

  /**
   * Delayed and dead messages come in one order, as their places are the same in all partitions: an instant and an id. Ready and
   * active ones come partition by partition, because claims of different partitions have no order.
   */
  list(request: PageRequest): Promise<StoredPage> {
    const list = hasOneOrder(request.state) ? listMerged : listInTurn;
    return this.#read((reading) => list(reading, request));
  }

  /** Reads as far as partitions answer; again, if there turn out to be others than this process knew. */
  async #read<Result extends object>(read: (reading: Reading) => Promise<Result>): Promise<Result & Incomplete> {
    const { partitions } = this;
    for (;;) {
      const ready = partitions.ready();
      if (ready) await ready;
      // There may be others, of which this process has not heard.
      if (widthOf(partitions.partitioning) === 1 && partitions.reachOf(0) === 'lost') await partitions.refresh();
      const reading = partitions.read();
      const [result] = await Promise.all([read(reading), reading.inTime(0, () => partitions.refresh())]);
      if (partitions.stores !== reading.stores) continue;
      const missing = reading.end();
      return missing.length === 0 ? result : { ...result, missing };
    }
  }
}

type Incomplete = Pick<QueueStatus, 'missing'>;

const hasOneOrder = (state: MessageState) => state === 'delayed' || state === 'dead';

/** A queue is shown as paused until it is resumed everywhere. */
function add(one: QueueStatus, other: QueueStatus): QueueStatus {
  return {
    counts: addCounts(one.counts, other.counts),
    now: Math.max(one.now, other.now),
    nextDue: earlier(one.nextDue, other.nextDue),
    oldestReady: earlier(one.oldestReady, other.oldestReady),
    paused: one.paused || other.paused,
  };
}

function addCounts(one: MessageCounts, other: MessageCounts): MessageCounts {
  return {
    delayed: one.delayed + other.delayed,
    ready: one.ready + other.ready,
    active: one.active + other.active,
    dead: one.dead + other.dead,
  };
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
