import type { MessageStore, StoreLimits } from '../../lib/store/message-store.js';
import type { WeightedCommands } from './commands/command.js';
import type { DueEar } from './due-ear.js';
import type { Moment } from './instant.js';
import type { QueueModel } from './queue-model.js';

/** A queue that random commands are run against. */
export interface RealQueue {
  /** The same queue as two processes see it. */
  readonly views: readonly [MessageStore, MessageStore];
  /** Listens in the second of them. */
  readonly ear: DueEar;
  /** The store's clock. */
  now(): Promise<number>;
  /** Called before each command: no instant that earlier ones set without a delay may lie within the next. */
  beginStep(): Promise<void>;
  /** Lets time pass; only where the clock is the test's. */
  advance?(ms: number): Promise<void>;
  /** Takes the token at the doorbell, as a consumer that wakes and then crashes. */
  takeToken(): Promise<void>;
  /** Compares what is kept beneath the port with the model; fails if they differ. */
  checkInside(model: QueueModel): Promise<void>;
  /** What Java does to the same queue; only in the layout of Redisson. */
  readonly java?: JavaClient;
  /** Leaves nothing behind. */
  close(): Promise<void>;
}

/** What a client of Redisson's does to a queue. */
export interface JavaClient {
  /** @param number - ascending; entries of a millisecond are in this order */
  offer(value: string, due: number, number: number): Promise<void>;
  /** @returns the instant of which it took what was due */
  transfer(): Promise<number>;
  take(): Promise<string | null>;
  /** Removes a delayed value. */
  remove(value: string): Promise<boolean>;
}

/** A store that random commands are run against: many queues, one after the other. */
export interface RealStore {
  /** The delays and leases to choose from, ms; where the clock cannot be moved, they are over at once or not at all. */
  readonly delays: readonly number[];
  readonly canAdvance: boolean;
  /** Commands that only make sense with this store. */
  readonly ownCommands?: readonly WeightedCommands[];
  /** Default: the plain one. */
  openModel?(limits: StoreLimits): QueueModel;
  openQueue(limits: StoreLimits): RealQueue;
  close(): Promise<void>;
}

/** Makes a call, and tells when. */
export async function timed<T>(queue: RealQueue, call: () => Promise<T>): Promise<{ answer: T; at: Moment }> {
  const from = await queue.now();
  const answer = await call();
  return { answer, at: { from, to: await queue.now() } };
}
