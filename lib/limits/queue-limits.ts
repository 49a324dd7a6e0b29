import { hostname } from 'node:os';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { dateOf, type Duration } from '../message/duration.js';
import { readFields } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import type { WholeQueue } from '../store/whole-queue.js';
import { assertLimitable, type LimitableQueue } from './assert-limitable.js';
import { readLimits } from './read-limits.js';
import type { LimitsRegistry, SetLimits } from './set-limits.js';

/** Limits to set while a queue runs. What is left out stays as the options say. */
export interface LimitsToSet {
  /** As the option `globalConcurrency`: 1–10,000, or `'unlimited'`. */
  readonly globalConcurrency?: number | 'unlimited' | undefined;
  /** As the option `rate`, such as `{ max: 100, per: '1s' }`, or `'unlimited'`. */
  readonly rate?: { readonly max: number; readonly per: Duration } | 'unlimited' | undefined;
}

/** The limits that somebody has set for a queue while it runs. */
export interface LimitsSet {
  /** Absent if the options decide. */
  readonly globalConcurrency?: number | 'unlimited';
  /** `per` is in milliseconds. Absent if the options decide. */
  readonly rate?: { readonly max: number; readonly per: number } | 'unlimited';
  /** Who has set them: the `by` of the call or, by default, the host and the process id. */
  readonly setBy: string;
  /** When they were set, by Redis' clock. */
  readonly setAt: Date;
}

/** A queue's limits that change while it runs, from `DelayQueueProducer.limits`. Methods reject with the same errors as the producer's. */
export interface QueueLimits {
  /** Returns the limits that were set; null if none were, so that the options of each process decide. */
  get(): Promise<LimitsSet | null>;

  /**
   * Sets limits for all processes, also for those that start later, instead of those in their options. Replaces limits that were set
   * before. Running processes follow within a second, or within `checkInterval` (60 s by default) if the announcement gets lost. Messages that are already claimed
   * stay claimed.
   * @param options - `by`: who sets them, as `get` shows it: 1–200 characters
   * @throws DelayQueueError also `INVALID_ARGUMENT` for a malformed limit, or one that does not go with the queue's `partitions`, and
   *   `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * await producer.limits('orders').set({ globalConcurrency: 5, rate: { max: 100, per: '1s' } }, { by: 'alice' });
   * ```
   */
  set(limits: LimitsToSet, options?: { readonly by?: string | undefined }): Promise<void>;

  /** Removes limits that were set, so that the options of each process decide again. Returns true if there were some. */
  reset(): Promise<boolean>;
}

interface LimitedQueue extends LimitableQueue {
  readonly store: Pick<WholeQueue, 'status'>;
}

export class StoredLimits implements QueueLimits {
  constructor(
    private readonly queue: LimitedQueue,
    private readonly registry: LimitsRegistry,
  ) {}

  async get(): Promise<LimitsSet | null> {
    const set = await this.registry.read(this.queue.name);
    return set ? show(set) : null;
  }

  async set(given: LimitsToSet, options: { readonly by?: string | undefined } = {}): Promise<void> {
    const { queue } = this;
    const limits = readLimits(given, `limits('${queue.name}').set(…)`);
    const by = readBy(readFields(options, 'options', ['by']).by);
    assertLimitable(queue, limits);
    const at = (await queue.store.status()).now;
    // Reading the time may have revealed that the queue has partitions.
    assertLimitable(queue, limits);
    await this.registry.write(queue.name, { ...limits, by, at });
  }

  async reset(): Promise<boolean> {
    return this.registry.write(this.queue.name, undefined);
  }
}

const MAX_BY = 200;

function readBy(given: unknown = `${hostname()}:${process.pid}`): string {
  if (typeof given === 'string' && given.length > 0 && given.length <= MAX_BY) return given;
  throw new DelayQueueError('INVALID_ARGUMENT', `by must be 1–${MAX_BY} characters of text, not ${showGiven(given)}`);
}

function show({ globalConcurrency, rate, by, at }: SetLimits): LimitsSet {
  return {
    ...(globalConcurrency !== undefined && { globalConcurrency: globalConcurrency ?? 'unlimited' }),
    ...(rate !== undefined && { rate: rate ?? 'unlimited' }),
    setBy: by,
    setAt: dateOf(at),
  };
}
