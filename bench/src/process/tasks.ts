import type { Cost } from '../adapters/adapter.js';
import type { Distribution } from '../measure/percentiles.js';

/** Tasks by which a process reports about itself. */
export interface OwnTasks {
  usage(): Promise<Usage>;
  /** Collects garbage first. Only with the option `--expose-gc` of Node.js. */
  usageAfterGc(): Promise<Usage>;
}

/** Resources used by a process since it started. */
export interface Usage {
  /** Processor time, µs. */
  readonly cpu: number;
  /** Bytes on the heap. The difference of two is what was allocated, unless garbage was collected in between. */
  readonly heap: number;
}

/** The tasks of a producer process. Each ends when the server has stored everything. */
export interface ProducerTasks {
  /** Awaits each offer before the next. */
  offerOneByOne(work: Messages): Promise<Cost>;
  /** Keeps `inFlight` offers under way. */
  offerInFlight(work: Messages & { inFlight: number }): Promise<Cost>;
  /** Offers lists of a thousand, one after the other. Undefined: the system takes no lists. */
  offerLists(work: Messages): Promise<Cost | undefined>;
  /** Fills the queue as fast as possible. */
  fill(work: Messages & { due?: Schedule }): Promise<Cost>;
  /** Offers at a steady pace. */
  offerAtRate(work: { rate: number; seconds: number; delay: number }): Promise<{ offered: number }>;
  /** Keeps `inFlight` offers under way for some seconds. */
  offerFor(work: { seconds: number; inFlight: number; delay: number }): Promise<{ offered: number }>;
  /** Offers, and keeps the ids for the tasks below. */
  prepare(work: Messages): Promise<void>;
  /** Undefined: the system cannot cancel by id. */
  cancelPrepared(work: { inFlight: number }): Promise<Cost | undefined>;
  /** Undefined: the system cannot reschedule. */
  reschedulePrepared(work: { inFlight: number; delay: Delay }): Promise<Cost | undefined>;
}

/** The tasks of a consumer process. */
export interface ConsumerTasks {
  /** @returns when it began to start, ms since the epoch */
  start(): Promise<{ startedAt: number }>;
  /** Serves queues of these names instead, which nobody offers to. */
  serveQueues(work: { names: readonly string[] }): Promise<void>;
  /** Waits until `count` messages have been handled since the last reset, and describes them without the first `skip`. */
  handled(work: { count: number; skip?: number }): Promise<Handled>;
  /** Describes the messages handled since the last reset. */
  look(): Promise<Handled>;
  /** The lateness of each message handled since the last reset, ms. */
  lateness(): Promise<number[]>;
  /** From now on the handler takes so many ms for each message. */
  takeTime(work: { duration: number }): Promise<void>;
  reset(): Promise<void>;
}

export interface Messages {
  readonly count: number;
  /** Size of the payload as JSON. */
  readonly bytes?: number;
  readonly delay: Delay;
}

/** Milliseconds. With a range, each message has a random delay from it. */
export type Delay = number | { readonly from: number; readonly to: number };

/** Due times of `count` messages at random places among the others: the first, and the interval, ms. */
export interface Schedule {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
  readonly interval: number;
}

export interface Handled {
  readonly count: number;
  /** When the first and the last message were handled, ms since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Processor time of this process since the first message, µs. */
  readonly cpu: number;
  /** Milliseconds after the due time. */
  readonly lateness: Distribution;
}
