import type { HandlerInvoker } from '../handler/handler.invoker.js';
import { follow } from '../message/failure.js';
import type { Outcome } from '../store/message-flow.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { clearImmediate, setImmediate } from '../timing/event-loop.js';
import { type BatchResult, forAll, readBatchResults } from './batch-results.js';
import type { Delivery } from './delivery.js';
import { withinTimeout } from './handler-timeout.js';
import type { Outcomes } from './outcomes.js';
import type { RetryPolicy } from './retry-policy.js';

export interface BatchRunnerOptions {
  readonly invoker: HandlerInvoker;
  readonly retryPolicy: Pick<RetryPolicy, 'outcomeOf'>;
  readonly outcomes: Outcomes;
  readonly clock: Clock;
  /** How long a handler may run, ms; null: no limit. */
  readonly timeout: number | null;
  /** The most messages of a call. */
  readonly size: number;
  /** How long the first message of a batch waits for others, ms; 0: for those of the same turn of the event loop. */
  readonly wait: number;
  /** The most calls at once. */
  readonly concurrency: number;
}

interface WaitingDelivery {
  readonly delivery: Delivery;
  /** On the monotonic clock. */
  readonly since: number;
  readonly settle: (outcome: Outcome) => void;
}

const RELEASE: Outcome = { kind: 'release' };

/** Collects deliveries, calls the handler with many of them at once, and gives each its own outcome. */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  #waiting: WaitingDelivery[] = [];
  #calls = 0;
  #cancelTimer: CancelTimer | undefined;
  #stopped = false;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
  }

  /** Resolves when the batch of the delivery is handled; never rejects. */
  run(delivery: Delivery): Promise<Outcome> {
    if (this.#stopped) return Promise.resolve(RELEASE);
    return new Promise((settle) => {
      this.#waiting.push({ delivery, settle, since: this.#options.clock.monotonic() });
      this.#callFull();
      this.#planCall();
    });
  }

  /** Starts no further call; what waits for one goes back. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    for (const { settle } of this.#waiting.splice(0)) settle(RELEASE);
  }

  get #mayCall(): boolean {
    return this.#calls < this.#options.concurrency;
  }

  #callFull(): void {
    while (this.#mayCall && this.#waiting.length >= this.#options.size) this.#callFirst();
  }

  /** Plans the call for those that wait: at the end of the wait of the first one. */
  #planCall(): void {
    const [first] = this.#waiting;
    if (!first || !this.#mayCall || this.#cancelTimer) return;
    const { clock, wait } = this.#options;
    const call = () => {
      this.#cancelTimer = undefined;
      if (this.#mayCall && this.#waiting.length > 0) this.#callFirst();
      this.#planCall();
    };
    if (wait > 0) {
      this.#cancelTimer = clock.schedule(call, Math.max(0, first.since + wait - clock.monotonic()));
    } else {
      const immediate = setImmediate(call);
      this.#cancelTimer = () => clearImmediate(immediate);
    }
  }

  #callFirst(): void {
    const first = this.#waiting.splice(0, this.#options.size);
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const [lost, held] = [first.filter(isLost), first.filter((waiting) => !isLost(waiting))];
    for (const { settle } of lost) settle(RELEASE);
    if (held.length > 0) this.#call(held);
  }

  #call(batch: readonly WaitingDelivery[]): void {
    const { invoker, clock, timeout } = this.#options;
    this.#calls++;
    const deliveries = batch.map(({ delivery }) => delivery);
    let result: unknown;
    try {
      result = invoker.invoke(
        deliveries.map(({ payload }) => payload),
        deliveries,
      );
    } catch (error) {
      this.#settleAll(batch, forAll(batch.length, { error }));
      return;
    }
    if (!(result instanceof Promise)) {
      this.#settleEach(batch, result);
      return;
    }
    const onTimeout = (reason: Error) => deliveries.forEach((delivery) => delivery.abort(reason));
    void follow(withinTimeout(result, { clock, timeout, onTimeout }), {
      onDone: (value) => this.#settleEach(batch, value),
      onFailed: (error) => this.#settleAll(batch, forAll(batch.length, { error })),
    });
  }

  #settleEach(batch: readonly WaitingDelivery[], returned: unknown): void {
    let results: readonly BatchResult[];
    try {
      results = readBatchResults(returned, batch.length);
    } catch (error) {
      results = forAll(batch.length, { error });
    }
    this.#settleAll(batch, results);
  }

  #settleAll(batch: readonly WaitingDelivery[], results: readonly BatchResult[]): void {
    const { outcomes, retryPolicy } = this.#options;
    for (const [i, { delivery, settle }] of batch.entries()) {
      const result = results[i]!;
      settle(
        'error' in result
          ? outcomes.failed(delivery, retryPolicy, result.error)
          : outcomes.done(delivery, retryPolicy, result.value),
      );
    }
    this.#calls--;
    this.#callFull();
    this.#planCall();
  }
}

/** Another process has it by now. */
const isLost = ({ delivery }: WaitingDelivery) => delivery.abortReason !== undefined;
