import type { Hooks } from '../message/delay-queue-observer.js';
import { follow } from '../message/failure.js';
import type { DelayedMessage } from '../message/message.js';
import type { Outcome } from '../store/consumer-store.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { clearImmediate, setImmediate } from '../timing/event-loop.js';
import { completionOf, withinTimeout } from '../message/handler-results.js';
import { type BatchResult, forAll, readBatchResults } from './batch-results.js';
import type { ConcurrentCalls, WaitingCall } from './concurrent-calls.js';
import { type Delivery, slowHandler, slowObserver, timeOut } from '../consumer/delivery.js';
import { observed, showOutcome } from '../consumer/handler-steps.js';
import { type HandlerRules, type Outcomes, RELEASE } from '../consumer/outcomes.js';

export interface BatchRunnerOptions extends HandlerRules {
  /** Calls the handler with the payloads and messages of a batch. */
  readonly call: (payloads: unknown, messages: readonly DelayedMessage[]) => unknown;
  readonly outcomes: Outcomes;
  readonly clock: Clock;
  /** The maximum number of messages in a call. */
  readonly size: number;
  /** How long a batch's first message waits for others, ms. If 0, it waits only until the end of the event loop's turn. */
  readonly wait: number;
  /** Limits the number of concurrent calls. */
  readonly calls: ConcurrentCalls;
  readonly hooks?: Hooks | undefined;
  /** Called when the last waiting message has left. */
  readonly onEmpty?: (() => void) | undefined;
}

interface WaitingDelivery {
  readonly delivery: Delivery;
  /** When the message began to wait, on the monotonic clock. */
  readonly since: number;
  readonly settle: (outcome: Outcome | Promise<Outcome>) => void;
}

/** An outcome for each message of a batch; a promise if a new payload is checked asynchronously. */
type BatchOutcomes = readonly (Outcome | Promise<Outcome>)[];

/** Collects deliveries, calls the handler with many of them at once, and gives each its own outcome. */
export class BatchRunner {
  readonly #nextCall: WaitingCall = { start: () => this.#callFirst(), release: () => this.stop() };
  #waiting: WaitingDelivery[] = [];
  /** Number of this runner's calls that are waiting to start. */
  #asked = 0;
  #cancelTimer: CancelTimer | undefined;
  #stopped = false;

  constructor(private readonly options: BatchRunnerOptions) {}

  /** Resolves when the delivery's batch has been handled; never rejects. */
  run(delivery: Delivery): Promise<Outcome> {
    if (this.#stopped) return Promise.resolve(RELEASE);
    return new Promise((settle) => {
      this.#waiting.push({ delivery, settle, since: this.options.clock.monotonic() });
      if (this.#waiting.length >= this.options.size * (this.#asked + 1)) this.#askForCall();
      else this.#planCall();
    });
  }

  /** Calls the handler with the waiting messages, without waiting for more. */
  flush(): void {
    if (this.#waiting.length > 0 && this.#asked === 0) this.#askForCall();
  }

  /** Starts no more calls, and releases the messages that wait for one. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    for (const { settle } of this.#waiting.splice(0)) settle(RELEASE);
  }

  #askForCall(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#asked++;
    this.options.calls.add(this.#nextCall);
  }

  /**
   * Schedules a call for when the first waiting message has waited long enough. Does nothing if a call is already about to start, because
   * that call will take the waiting messages too.
   */
  #planCall(): void {
    const first = this.#waiting[0];
    if (!first || this.#asked > 0 || this.#cancelTimer) return;
    const { clock, wait } = this.options;
    const ask = () => this.#askForCall();
    if (wait > 0) {
      this.#cancelTimer = clock.schedule(ask, Math.max(0, first.since + wait - clock.monotonic()));
    } else {
      const immediate = setImmediate(ask);
      this.#cancelTimer = () => clearImmediate(immediate);
    }
  }

  #callFirst(): Promise<void> | undefined {
    this.#asked--;
    const first = this.#waiting.splice(0, this.options.size);
    this.#planCall();
    if (this.#waiting.length === 0 && this.#asked === 0) this.options.onEmpty?.();
    const held = first.filter((waiting) => !this.#endWithoutCall(waiting));
    return held.length > 0 ? this.#call(held) : undefined;
  }

  #endWithoutCall({ delivery, settle }: WaitingDelivery): boolean {
    const outcome = this.options.outcomes.afterWait(delivery);
    if (outcome) settle(outcome);
    return outcome !== undefined;
  }

  /** Calls the handler. Returns a promise that resolves when the call has ended, or undefined if it already has. */
  #call(batch: readonly WaitingDelivery[]): Promise<void> | undefined {
    const deliveries = batch.map(({ delivery }) => delivery);
    const outcomes = this.#observe(deliveries);
    const settleAll = (known: BatchOutcomes) => batch.forEach(({ settle }, i) => settle(known[i]!));
    if (outcomes instanceof Promise) return outcomes.then(settleAll);
    settleAll(outcomes);
    return undefined;
  }

  #observe(deliveries: readonly Delivery[]): BatchOutcomes | Promise<BatchOutcomes> {
    const { hooks, timeout } = this.options;
    if (!hooks?.handleBatch) return this.#handle(deliveries);
    return observed(hooks.handleBatch, deliveries.map(messageOf), {
      handle: () => allOf(this.#handleAfterWait(deliveries)),
      show: (outcomes: readonly Outcome[]) => outcomes.map((outcome, i) => showOutcome(outcome, deliveries[i]!)),
      timeout,
      onTimeout: (observer, passed) => {
        const error = timeOut(deliveries, slowObserver(observer, passed));
        return deliveries.map((delivery) => this.options.outcomes.failed(delivery, this.options, error));
      },
    });
  }

  /** Calls the handler, except for messages that have expired, or whose lease may have ended, while an observer delayed the call. */
  #handleAfterWait(deliveries: readonly Delivery[]): BatchOutcomes | Promise<BatchOutcomes> {
    const ended = deliveries.map((delivery) => this.options.outcomes.afterWait(delivery));
    const rest = deliveries.filter((_, i) => !ended[i]);
    if (rest.length === 0) return ended as Outcome[];
    const handled = this.#handle(rest);
    if (rest.length === deliveries.length) return handled;
    const insert = (known: BatchOutcomes) => {
      const ofRest = known.values();
      return ended.map((outcome) => outcome ?? ofRest.next().value!);
    };
    return handled instanceof Promise ? handled.then(insert) : insert(handled);
  }

  #handle(deliveries: readonly Delivery[]): BatchOutcomes | Promise<BatchOutcomes> {
    const { call, clock, timeout } = this.options;
    const payloads = deliveries.map(({ payload }) => payload);
    const size = deliveries.length;
    const read = (value: unknown) => readBatchResults(value, size);
    const onDone = (results: unknown) => this.#outcomesOf(deliveries, results as readonly BatchResult[]);
    const onFailed = (error: unknown) => this.#outcomesOf(deliveries, forAll(size, { error }));
    const onTimeout = (passed: number) => timeOut(deliveries, slowHandler(passed));
    try {
      const result = completionOf(call(payloads, deliveries.map(messageOf)));
      const results = result instanceof Promise ? follow(result, { onDone: read, onFailed: rethrow }) : read(result);
      if (!(results instanceof Promise)) return onDone(results);
      return follow(withinTimeout(results, { clock, timeout, onTimeout }), { onDone, onFailed });
    } catch (error) {
      return onFailed(error);
    }
  }

  #outcomesOf(deliveries: readonly Delivery[], results: readonly BatchResult[]): BatchOutcomes {
    const { outcomes } = this.options;
    return results.map((result, i) =>
      'error' in result
        ? outcomes.threw(deliveries[i]!, this.options, result.error)
        : outcomes.returned(deliveries[i]!, this.options, result.value),
    );
  }
}

function messageOf({ message }: Delivery): DelayedMessage {
  return message;
}

function rethrow(error: unknown): never {
  throw error;
}

function allOf(given: BatchOutcomes | Promise<BatchOutcomes>): readonly Outcome[] | Promise<readonly Outcome[]> {
  const all = (outcomes: BatchOutcomes) => Promise.all(outcomes.map((outcome) => Promise.resolve(outcome)));
  if (given instanceof Promise) return given.then(all);
  return given.some((outcome) => outcome instanceof Promise) ? all(given) : (given as readonly Outcome[]);
}
