import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueError } from '../../message/delay-queue.errors.js';
import type { MessageSnapshot } from '../../message/message.js';
import type { QueueStatus } from '../../store/message-upkeep.js';
import type { Run } from '../command-line.js';
import { DeadWatch } from './dead.watch.js';
import { type Due, DueWatch } from './due.watch.js';

/** What happened in a queue since the last look. */
export interface QueueNews {
  readonly queue: string;
  readonly now: Date;
  readonly due: Due | undefined;
  readonly dead: readonly MessageSnapshot[];
}

export interface TailListener {
  /** The first look at a queue. */
  onStart(queue: string, status: QueueStatus): void;
  onNews(news: QueueNews): void;
  /** A look failed; the next one is tried all the same. Called once for each problem. */
  onTrouble(problem: string): void;
  onRecovery(): void;
}

export interface TailSettings {
  readonly run: Pick<Run, 'producer' | 'status'>;
  readonly queue: string;
  /** The time between two looks, ms. */
  readonly every: number;
  readonly listener: TailListener;
  readonly signal: AbortSignal;
}

/** Looks at a queue from outside, again and again, until the signal aborts. */
export async function tailQueue({ run, queue, every, listener, signal }: TailSettings): Promise<void> {
  const due = new DueWatch(run.producer, queue, every);
  const dead = new DeadWatch(run.producer, queue);
  let [isFirst, trouble] = [true, ''];
  while (!signal.aborted) {
    try {
      const status = await run.status(queue);
      const news = { queue, now: new Date(status.now), due: await due.look(status), dead: await dead.look(status) };
      if (trouble) listener.onRecovery();
      if (isFirst) listener.onStart(queue, status);
      listener.onNews(news);
      [isFirst, trouble] = [false, ''];
    } catch (error) {
      // A mistake shows at the first look; what comes later may pass.
      if (isFirst || !(error instanceof DelayQueueError)) throw error;
      if (trouble !== error.code) listener.onTrouble(error.message);
      trouble = error.code;
    }
    await sleep(every, undefined, { signal }).catch(() => undefined);
  }
}
