import type { Outcome } from '../store/consumer-store.js';
import { BatchRunner, type BatchRunnerOptions } from './batch-runner.js';
import type { Delivery } from '../consumer/delivery.js';
import { RELEASE } from '../consumer/outcomes.js';

export interface GroupBatchesOptions extends BatchRunnerOptions {
  /** The maximum number of a group's messages handled at once; null: no limit. */
  readonly groupConcurrency: number | null;
}

/** Collects batches of one group each, or of messages without a group. A group has a runner only while its messages wait. */
export class GroupBatches {
  /** Runners by group. The key undefined is for messages without a group. */
  readonly #runners = new Map<string | undefined, BatchRunner>();
  #stopped = false;

  constructor(private readonly options: GroupBatchesOptions) {}

  /** Number of groups with waiting messages; messages without a group count as one. */
  get waitingGroups(): number {
    return this.#runners.size;
  }

  run(delivery: Delivery): Promise<Outcome> {
    if (this.#stopped) return Promise.resolve(RELEASE);
    const { group } = delivery;
    let runner = this.#runners.get(group);
    if (!runner) this.#runners.set(group, (runner = this.#open(group)));
    return runner.run(delivery);
  }

  /** Calls handlers with the waiting messages, because the process has no slots for more messages of their groups. */
  flush(): void {
    for (const runner of [...this.#runners.values()]) runner.flush();
  }

  stop(): void {
    this.#stopped = true;
    for (const runner of this.#runners.values()) runner.stop();
  }

  #open(group: string | undefined): BatchRunner {
    const { size, groupConcurrency } = this.options;
    return new BatchRunner({
      ...this.options,
      // A group never has more messages here than this, so waiting longer would not fill a bigger batch.
      size: group === undefined ? size : Math.min(size, groupConcurrency ?? Infinity),
      onEmpty: () => this.#runners.delete(group),
    });
  }
}
