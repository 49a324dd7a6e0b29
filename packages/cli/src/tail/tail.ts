import { setTimeout as sleep } from 'node:timers/promises';
import { type DeadLetter, DelayQueueError } from 'nestjs-delay-queue';
import type { InspectedQueue } from 'nestjs-delay-queue/diagnosis';
import type { Run } from '../command-line.js';
import { DeadWatch } from './dead.watch.js';
import { type Due, DueWatch } from './due.watch.js';

/** The events of a queue since the last look. */
export interface QueueNews {
  readonly queue: string;
  readonly now: Date;
  readonly due: Due | undefined;
  readonly dead: readonly DeadLetter[];
}

export interface TailListener {
  /** The first look at a queue. */
  onStart(queue: string, inspected: InspectedQueue): void;
  onNews(news: QueueNews): void;
  /** A look failed; the next one is tried all the same. Called once for each problem. */
  onTrouble(problem: string): void;
  onRecovery(): void;
}

export interface TailSettings {
  readonly run: Pick<Run, 'producer' | 'inspect'>;
  readonly queue: string;
  /** The time between two looks, ms. */
  readonly every: number;
  readonly listener: TailListener;
  readonly signal: AbortSignal;
}

/** Looks at a queue from outside, repeatedly, until the signal aborts. */
export async function tailQueue({ run, queue, every, listener, signal }: TailSettings): Promise<void> {
  const due = new DueWatch(run.producer, queue, every);
  const dead = new DeadWatch(run.producer, queue);
  let [isFirst, trouble] = [true, ''];
  while (!signal.aborted) {
    try {
      const inspected = await run.inspect(queue);
      const news = { queue, now: inspected.now, due: await due.look(inspected), dead: await dead.look(inspected) };
      if (trouble) listener.onRecovery();
      if (isFirst) listener.onStart(queue, inspected);
      listener.onNews(news);
      [isFirst, trouble] = [false, ''];
    } catch (error) {
      // A mistake shows at the first look. A later problem may pass.
      if (isFirst || !(error instanceof DelayQueueError)) throw error;
      if (trouble !== error.code) listener.onTrouble(error.message);
      trouble = error.code;
    }
    await sleep(every, undefined, { signal }).catch(() => undefined);
  }
}
