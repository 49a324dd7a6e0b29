import type { Rate, StoreLimits } from '../store/message-store.js';
import type { NativeLimits } from './native-limits.js';

/**
 * The limits of a queue's stores: those of the options, unless others were set while the queue runs. Those that depend on the number of
 * partitions are fields, which the limits for another number replace.
 */
export class LiveLimits implements StoreLimits {
  readonly attempts: number;
  readonly maxDeadLetters: number;
  readonly maxMessages: number | null;
  readonly history: StoreLimits['history'];
  readonly ownRate: StoreLimits['rate'];
  readonly partitions: number;
  readonly idsFor: StoreLimits['idsFor'];
  readonly #own: StoreLimits;
  readonly #registry: NativeLimits;
  readonly #queue: string;

  constructor(
    own: StoreLimits,
    registry: NativeLimits,
    {
      queue,
      partitions,
      checkInterval,
    }: {
      readonly queue: string;
      readonly partitions: number;
      /** The maximum time after which the limits are read again, ms. */
      readonly checkInterval: number;
    },
  ) {
    this.attempts = own.attempts;
    this.maxDeadLetters = own.maxDeadLetters;
    this.maxMessages = own.maxMessages;
    this.history = own.history;
    this.ownRate = own.rate;
    this.partitions = partitions;
    this.idsFor = own.idsFor;
    this.#own = own;
    this.#registry = registry;
    this.#queue = queue;
    registry.checkEvery(checkInterval);
  }

  get rate(): Rate | null | undefined {
    const set = this.#registry.of(this.#queue)?.rate;
    return set === undefined ? this.ownRate : shareOf(set, this.partitions);
  }

  get globalConcurrency(): number | null | undefined {
    const set = this.#registry.of(this.#queue)?.globalConcurrency;
    return set === undefined ? this.#own.globalConcurrency : set;
  }

  get known(): Promise<void> | undefined {
    return this.#registry.known;
  }

  refresh(): void {
    this.#registry.refresh().catch(() => undefined);
  }

  watch(onChange: () => void): () => void {
    return this.#registry.watch(this.#queue, onChange);
  }
}

/** Returns the rate of each of so many partitions: all of them together never exceed the queue's, unless it is less than 1 for each. */
export function shareOf(rate: Rate | null | undefined, partitions: number): Rate | null {
  return rate ? { ...rate, max: Math.max(1, Math.floor(rate.max / partitions)) } : null;
}
