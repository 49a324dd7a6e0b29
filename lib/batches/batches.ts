import type { Delivery } from '../consumer/delivery.js';
import type { StepParts } from '../consumer/handler-steps.js';
import type { Handle, WaitingCalls } from '../consumer/message-runner.js';
import { type Outcomes, RELEASE } from '../consumer/outcomes.js';
import type { Hooks } from '../message/delay-queue-observer.js';
import type { Outcome } from '../store/consumer-store.js';
import { BatchRunner, type BatchRunnerOptions } from './batch-runner.js';
import { ConcurrentCalls } from './concurrent-calls.js';

/** Makes messages wait for handler calls in a queue with a handler of batches. */
export class Batches implements WaitingCalls {
  maxBatch = 1;
  readonly #calls: ConcurrentCalls;
  readonly #runners: (BatchRunner | GroupBatches)[] = [];

  constructor(
    private readonly options: {
      /** The maximum number of concurrent calls. */
      readonly concurrency: number;
      /** The maximum number of a group's messages handled at once; null: no limit. */
      readonly groupConcurrency: number | null;
      readonly outcomes: Outcomes;
      readonly hooks?: Hooks | undefined;
    },
  ) {
    this.#calls = new ConcurrentCalls(options.concurrency);
  }

  /** Returns a step that collects messages and calls the handler with many of them. */
  batchStep(
    call: BatchRunnerOptions['call'],
    { isPerGroup, ...size }: Pick<BatchRunnerOptions, 'size' | 'wait'> & { readonly isPerGroup: boolean },
    { rules, ...parts }: StepParts,
  ): Handle {
    const { groupConcurrency, hooks } = this.options;
    const options = { call, ...size, ...rules, ...parts, calls: this.#calls, hooks };
    const runner = isPerGroup ? new GroupBatches({ ...options, groupConcurrency }) : new BatchRunner(options);
    this.#runners.push(runner);
    this.maxBatch = Math.max(this.maxBatch, size.size);
    return (delivery) => runner.run(delivery);
  }

  /** Makes messages for a single-message handler wait until another call may run. */
  waitStep(next: Handle): Handle {
    return (delivery: Delivery) =>
      new Promise<Outcome>((settle) => {
        const start = () => {
          const outcome = this.options.outcomes.afterWait(delivery) ?? next(delivery);
          settle(outcome);
          return outcome instanceof Promise ? outcome : undefined;
        };
        this.#calls.add({ start, release: () => settle(RELEASE) });
      });
  }

  flush(): void {
    for (const runner of this.#runners) if (runner instanceof GroupBatches) runner.flush();
  }

  stop(): void {
    this.#calls.stop();
    for (const runner of this.#runners) runner.stop();
  }
}

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

  /** Calls the handler with all waiting messages, one group per call. Called when the process has no slots for more messages. */
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
      // At most `groupConcurrency` messages of a group are here at once, so a larger batch would never fill.
      size: group === undefined ? size : Math.min(size, groupConcurrency ?? Infinity),
      onEmpty: () => this.#runners.delete(group),
    });
  }
}
