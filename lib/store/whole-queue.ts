import type { MessageCounts, MessageState } from '../message/message.js';
import type { PageRequest, QueueStatus, StoredPage, TypeCountPage } from './admin-store.js';
import { countTypesInTurn, listInTurn, listMerged } from './list-stores.js';
import type { Router } from './router.js';
import { writeAll } from './write-all.js';

/**
 * Treats all stores of a queue as one. Each is read or changed at its own instant. A change that fails may have happened in some stores,
 * and can be repeated.
 */
export class WholeQueue {
  constructor(private readonly router: Router) {}

  status(): Promise<QueueStatus> {
    return this.router.read(async (reading) => (await reading.all((store) => store.status())).reduce(add));
  }

  countTypes(cursor?: string): Promise<TypeCountPage> {
    return this.router.read((reading) => countTypesInTurn(reading, cursor));
  }

  async pause(): Promise<void> {
    await writeAll(this.router, 'pause', (store) => store.pause());
  }

  async resume(): Promise<void> {
    await writeAll(this.router, 'resume', (store) => store.resume());
  }

  clear(): Promise<number> {
    return writeAll(this.router, 'clear', async (store, note) => note(await store.clear()));
  }

  /**
   * Lists delayed and dead messages in one order: by time and id. Ready and active ones come store by store, because claims of different
   * stores have no order.
   */
  list(request: PageRequest): Promise<StoredPage> {
    const list = hasOneOrder(request.state) ? listMerged : listInTurn;
    return this.router.read((reading) => list(reading, request));
  }
}

const hasOneOrder = (state: MessageState) => state === 'delayed' || state === 'dead';

/** A queue counts as paused until it is resumed everywhere. */
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
