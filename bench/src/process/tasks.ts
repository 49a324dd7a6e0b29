import type { Distribution } from '../measure/percentiles.js';

/** What a producer process can be told to do. Each waits until Redis has taken everything in. */
export interface ProducerTasks {
  /** Each offer waits for the one before. */
  offerOneByOne(work: Messages): Promise<Duration>;
  /** There are always `inFlight` offers under way. */
  offerInFlight(work: Messages & { inFlight: number }): Promise<Duration>;
  /** Lists of a thousand, each waits for the one before. */
  offerLists(work: Messages): Promise<Duration>;
  /** As many messages as fast as may be, to have them there; all due at `dueAt` if that is given. */
  fill(work: Messages & { dueAt?: number }): Promise<void>;
  /** At a steady pace. */
  offerAtRate(work: { rate: number; seconds: number; delay: number }): Promise<{ offered: number }>;
  /** Always `inFlight` offers under way, for some time. */
  offerFor(work: { seconds: number; inFlight: number; delay: number }): Promise<{ offered: number }>;
  /** Offers, and keeps the ids for the tasks below. */
  prepare(work: Messages): Promise<void>;
  cancelPrepared(work: { inFlight: number }): Promise<Duration>;
  /** Undefined: the system cannot do that. */
  reschedulePrepared(work: { inFlight: number; delay: Delay }): Promise<Duration | undefined>;
}

/** What a consumer process can be told to do. */
export interface ConsumerTasks {
  /** @returns when it began to start, ms since the epoch */
  start(): Promise<{ startedAt: number }>;
  /** Waits until so many messages have been handled since the last reset, and tells about them, or those after the first `skip`. */
  handled(work: { count: number; skip?: number }): Promise<Handled>;
  /** Tells what has been handled since the last reset. */
  look(): Promise<Handled>;
  /** How late each was that has been handled since the last reset, ms. */
  lateness(): Promise<number[]>;
  reset(): Promise<void>;
}

export interface Messages {
  readonly count: number;
  /** Size of the payload as JSON. */
  readonly bytes?: number;
  readonly delay: Delay;
}

/** Milliseconds; of a range, each message has a random one. */
export type Delay = number | { readonly from: number; readonly to: number };

export interface Duration {
  /** Milliseconds. */
  readonly took: number;
  /** Processor time of this process meanwhile, µs. */
  readonly cpu: number;
}

export interface Handled {
  readonly count: number;
  /** When the first and the last of them were handled, ms since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Processor time of this process since the first message, µs. */
  readonly cpu: number;
  /** Milliseconds after they were due. */
  readonly lateness: Distribution;
}
