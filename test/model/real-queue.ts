import type { MessageStore, StoreLimits } from '../../lib/store/message-store.js';
import type { WeightedCommands } from './commands/command.js';
import type { DueTimeListener } from './due-listener.js';
import type { Moment } from './instant.js';
import type { QueueModel } from './queue-model.js';

/** A queue under random commands. */
export interface RealQueue {
  /** The same queue as two processes see it. */
  readonly views: readonly [MessageStore, MessageStore];
  /** Listens to the second view. */
  readonly listener: DueTimeListener;
  /** The store's clock. */
  now(): Promise<number>;
  /** Called before each command, so that instants which earlier commands set without a delay have passed. */
  beginStep(): Promise<void>;
  /** Lets time pass, if the test owns the clock. */
  advance?(ms: number): Promise<void>;
  /** Takes the wake-up signal, like a consumer that wakes and then crashes. */
  takeWakeSignal(): Promise<void>;
  /** Expects what is stored beneath the port to agree with the model. */
  checkInside(model: QueueModel): Promise<void>;
  /** A Java client of the same queue, in Redisson's layout only. */
  readonly java?: JavaClient;
  /** Closes the queue and deletes what it has stored. */
  close(): Promise<void>;
}

/** The calls of a Redisson client. */
export interface JavaClient {
  /** @param number - orders the entries of one millisecond */
  offer(value: string, due: number, number: number): Promise<void>;
  /** @returns the instant up to which it moved due entries */
  transfer(): Promise<number>;
  take(): Promise<string | null>;
  /** Removes a delayed value. */
  remove(value: string): Promise<boolean>;
}

/** A store under random commands, with many queues one after the other. */
export interface RealStore {
  /** The delays and leases to choose from, ms; if the clock cannot be moved, they end at once or not at all. */
  readonly delays: readonly number[];
  readonly canAdvance: boolean;
  /** Commands that only make sense with this store. */
  readonly ownCommands?: readonly WeightedCommands[];
  /** Default: {@link QueueModel}. */
  openModel?(limits: StoreLimits): QueueModel;
  openQueue(limits: StoreLimits): RealQueue;
  close(): Promise<void>;
}

/** Makes a call and measures when. */
export async function timed<T>(queue: RealQueue, call: () => Promise<T>): Promise<{ answer: T; at: Moment }> {
  const from = await queue.now();
  const answer = await call();
  return { answer, at: { from, to: await queue.now() } };
}
