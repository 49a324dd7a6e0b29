import type { Activity } from '../consumer/activity.js';

/** What has happened within a minute. */
export interface ActivitySummary {
  readonly handled: number;
  readonly failed: number;
  /** How late messages were given to their handlers, ms; undefined if none was. Each is at most an eighth off. */
  readonly lateness: { readonly p50: number; readonly p99: number } | undefined;
}

/** The number of periods in a minute. */
const PERIODS = 6;

/** Lateness in whole ms is counted in buckets: one for each number below this, and above it four for each power of two. */
const EXACT = 8;
const MAX_LATENESS = 2 ** 31 - 1;
const BUCKETS = 120;

/** The counters of a period: those of the buckets, and these two. */
const HANDLED = BUCKETS;
const FAILED = BUCKETS + 1;
const COUNTERS = BUCKETS + 2;

/**
 * Counts what a queue's or family's handlers do, in periods of a sixth of a minute. Counting allocates memory once per period, and a period
 * without messages has no counters.
 */
export class QueueActivity implements Activity {
  #current: Uint32Array | undefined;
  /** The last periods, oldest first; undefined for those without messages. */
  #past: readonly (Uint32Array | undefined)[] = [];

  started(lateness: number): void {
    this.#counters[bucketOf(lateness)]!++;
  }

  handled(): void {
    this.#counters[HANDLED]!++;
  }

  failed(): void {
    this.#counters[FAILED]!++;
  }

  /** Ends the current period. Called six times a minute. */
  nextPeriod(): void {
    this.#past = [...this.#past, this.#current].slice(-PERIODS);
    this.#current = undefined;
  }

  /** The number of outcomes in the periods that have ended. */
  get outcomes(): number {
    return this.#past.reduce((sum, period) => sum + (period ? period[HANDLED]! + period[FAILED]! : 0), 0);
  }

  /** Sums up the periods that have ended: the last minute. */
  summarize(): ActivitySummary {
    const sums = new Uint32Array(COUNTERS);
    for (const period of this.#past) period?.forEach((count, counter) => (sums[counter]! += count));
    return { handled: sums[HANDLED]!, failed: sums[FAILED]!, lateness: latenessOf(sums.subarray(0, BUCKETS)) };
  }

  get #counters(): Uint32Array {
    return (this.#current ??= new Uint32Array(COUNTERS));
  }
}

function latenessOf(buckets: Uint32Array): ActivitySummary['lateness'] {
  const count = buckets.reduce((sum, each) => sum + each, 0);
  if (count === 0) return undefined;
  return { p50: percentile(buckets, count * 0.5), p99: percentile(buckets, count * 0.99) };
}

/** Returns the lateness that `rank` messages do not exceed, ms. */
function percentile(buckets: Uint32Array, rank: number): number {
  let passed = 0;
  return middleOf(buckets.findIndex((count) => (passed += count) >= rank));
}

function bucketOf(lateness: number): number {
  // A comparison that also catches what is not a number.
  if (!(lateness >= 1)) return 0;
  const ms = lateness < MAX_LATENESS ? Math.trunc(lateness) : MAX_LATENESS;
  if (ms < EXACT) return ms;
  const exponent = 31 - Math.clz32(ms);
  return 4 * (exponent - 1) + ((ms >> (exponent - 2)) & 3);
}

/** Returns the middle of a bucket, in whole ms. */
function middleOf(bucket: number): number {
  if (bucket < EXACT) return bucket;
  const exponent = Math.floor(bucket / 4) + 1;
  const width = 2 ** (exponent - 2);
  return (4 + (bucket % 4)) * width + Math.floor((width - 1) / 2);
}
