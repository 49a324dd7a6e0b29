import type { Outcome } from '../store/consumer-store.js';
import { BatchRunner, type BatchRunnerOptions } from './batch-runner.js';
import type { Delivery } from '../consumer/delivery.js';
import { RELEASE } from '../consumer/outcomes.js';

export interface GroupBatchesOptions extends BatchRunnerOptions {
  /** The most messages of a group that can be handled at once; null: any number. */
  readonly groupConcurrency: number | null;
}

/**
 * Collects deliveries into batches with messages of one group each, and into batches of those without a group. Groups come and go, so
 * each has a runner only while messages wait in it.
 */
export class GroupBatches {
  /** By group; undefined: the messages without one. */
  readonly #runners = new Map<string | undefined, BatchRunner>();
  #stopped = false;

  constructor(private readonly options: GroupBatchesOptions) {}

  /** How many groups have messages that wait for their calls; those without a group count as one. */
  get waitingGroups(): number {
    return this.#runners.size;
  }

  /** As {@link BatchRunner.run}. */
  run(delivery: Delivery): Promise<Outcome> {
    if (this.#stopped) return Promise.resolve(RELEASE);
    const { group } = delivery;
    let runner = this.#runners.get(group);
    if (!runner) this.#runners.set(group, (runner = this.#open(group)));
    return runner.run(delivery);
  }

  /** The process has no slots for more messages, so what waits for others of its group would keep the slots from them. */
  flush(): void {
    for (const runner of [...this.#runners.values()]) runner.flush();
  }

  /** As {@link BatchRunner.stop}. */
  stop(): void {
    this.#stopped = true;
    for (const runner of this.#runners.values()) runner.stop();
  }

  #open(group: string | undefined): BatchRunner {
    const { size, groupConcurrency } = this.options;
    return new BatchRunner({
      ...this.options,
      // No more would come, however long the first one waits.
      size: group === undefined ? size : Math.min(size, groupConcurrency ?? Infinity),
      onEmpty: () => this.#runners.delete(group),
    });
  }
}
