import type { DueListener, WakeSignal } from '../../../lib/store/consumer-store.js';
import type { StoreLimits } from '../../../lib/store/message-store.js';
import type { MemoryMessageStore } from '../../../lib/store/memory/memory-store.js';

/** Calls that change nothing. */
const READING = new Set(['find', 'status', 'countTypes', 'countDue', 'list', 'listGroup', 'listGroups', 'listHolders']);

/** The limits that a call names. */
export type SentLimits = Pick<StoreLimits, 'rate' | 'globalConcurrency'>;

type Method = (...args: readonly unknown[]) => Promise<unknown>;

const methodOf = (store: MemoryMessageStore, call: string) =>
  (store as unknown as Record<string, Method | undefined>)[call]?.bind(store);

/** A store of the server, which may have a replica: that takes its place when the server fails. */
export class ServedStore {
  #isReplicating = true;

  /**
   * @param limits - of the store
   * @param replica - as empty as the store; undefined: it has none
   */
  constructor(
    private readonly limits: StoreLimits,
    private store: MemoryMessageStore,
    private replica?: MemoryMessageStore,
  ) {}

  has(call: string): boolean {
    return methodOf(this.store, call) !== undefined;
  }

  /** @param sent - the limits that the call names; undefined: those of the store */
  perform(call: string, args: readonly unknown[], sent?: SentLimits): Promise<unknown> {
    if (sent) for (const each of [this.store, this.replica]) each?.limit({ ...this.limits, ...sent });
    if (this.replica && this.#isReplicating && !READING.has(call)) void methodOf(this.replica, call)!(...args);
    return methodOf(this.store, call)!(...args);
  }

  find(id: string): ReturnType<MemoryMessageStore['find']> {
    return this.store.find(id);
  }

  watchDue(listener: DueListener): () => void {
    return this.store.watchDue(listener);
  }

  announceLimits(): void {
    this.store.limitsChanged();
  }

  openWakeSignal(): WakeSignal {
    return this.store.openWakeSignal();
  }

  /** From now on, the replica is told of nothing. */
  stopReplicating(): void {
    this.#isReplicating = false;
  }

  /** The replica, if there is one, takes its place. */
  failOver(): void {
    this.store = this.replica ?? this.store;
    this.replica = undefined;
  }
}
