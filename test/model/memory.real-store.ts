import { expect } from '@jest/globals';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { StoreLimits } from '../../lib/store/message-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { historyCommands } from './commands/history.commands.js';
import { moveCommands } from './commands/move.commands.js';
import { keptIdCommands } from './commands/kept-ids.commands.js';
import { followCommands } from './commands/follow.commands.js';
import { repeatCommands } from './commands/repeat.commands.js';
import { limitCommands } from './commands/limit.commands.js';
import { changeCommands } from './commands/change.commands.js';
import { DueTimeListener } from './due-listener.js';
import type { QueueModel } from './queue-model.js';
import type { RealQueue, RealStore } from './real-queue.js';

type MemoryStoreOptions = ConstructorParameters<typeof MemoryMessageStore>[0];

/** The memory store on a clock that only commands move. */
export class MemoryRealStore implements RealStore {
  readonly delays = [0, 1, 5, 20, 3_600_000];
  readonly canAdvance = true;
  readonly ownCommands = [
    ...followCommands(this.delays),
    ...changeCommands(this.delays),
    ...repeatCommands(),
    ...limitCommands(),
    ...historyCommands(),
    ...keptIdCommands(),
    ...moveCommands(),
  ];

  constructor(private readonly openStore = (options: MemoryStoreOptions) => new MemoryMessageStore(options)) {}

  openQueue(limits: StoreLimits): RealQueue {
    return new MemoryRealQueue(limits, this.openStore);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

class MemoryRealQueue implements RealQueue {
  readonly #clock = new ManualClock();
  readonly #store: MemoryMessageStore;
  readonly views: RealQueue['views'];
  readonly listener: DueTimeListener;

  constructor(limits: StoreLimits, openStore: (options: MemoryStoreOptions) => MemoryMessageStore) {
    this.#store = openStore({ limits, clock: this.#clock });
    this.views = [this.#store, this.#store];
    this.listener = new DueTimeListener(this.#store);
  }

  now(): Promise<number> {
    return Promise.resolve(this.#clock.wall());
  }

  beginStep(): Promise<void> {
    return Promise.resolve();
  }

  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms);
  }

  async takeWakeSignal(): Promise<void> {
    await this.#tryWakeSignal();
  }

  /** Looking takes the wake-up signal, so wake() sends it again if it must be there. */
  async checkInside({ wakeSignal }: QueueModel): Promise<void> {
    if (wakeSignal === 'stale') return;
    expect(await this.#tryWakeSignal()).toBe(wakeSignal === 'sent');
    if (wakeSignal === 'sent') await this.#store.wake();
  }

  close(): Promise<void> {
    this.listener.stop();
    expect(this.#clock.pendingTimers).toBe(0);
    return Promise.resolve();
  }

  async #tryWakeSignal(): Promise<boolean> {
    const wakeSignal = this.#store.openWakeSignal();
    const woken = wakeSignal.wait(1000);
    await wakeSignal.close();
    return woken;
  }
}
