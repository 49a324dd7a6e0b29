import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { dateOf } from '../message/duration.js';
import type { MessageCounts } from '../message/message.js';
import { UNNAMED } from '../message/instance-name.js';
import { findInstance, type Instance } from '../runtime/instance.js';

/** A queue's state at one instant; with `partitions`, each partition at its own instant. */
export interface InspectedQueue {
  /** Number of messages in each state. */
  readonly counts: MessageCounts;
  /** True if the queue is paused. */
  readonly paused: boolean;
  /** The due time of the earliest delayed message; null if none is delayed. */
  readonly nextDue: Date | null;
  /** The time of the inspection, by Redis' clock. */
  readonly now: Date;
  /** The partitions that do not answer, numbered from 0. Their messages are not counted. Absent if all answer. */
  readonly missing?: readonly number[];
}

/**
 * Inspects queues for a tool, such as a command-line interface. One call returns the results of the producer's `counts`, `nextDue` and
 * `isPaused`. Add it to the providers of a module that imports `DelayQueueModule`.
 * @example
 * ```ts
 * @Module({ imports: [DelayQueueModule.forRoot({ consume: false })], providers: [DelayQueueInspector] })
 * class ToolModule {}
 *
 * const context = await NestFactory.createApplicationContext(ToolModule);
 * const { counts, nextDue, now } = await context.get(DelayQueueInspector).inspect('orders');
 * console.log(counts.delayed, nextDue && nextDue.getTime() - now.getTime());
 * ```
 */
@Injectable()
export class DelayQueueInspector {
  // Injected as a property: constructor parameters, and all types they refer to, would become part of the public API.
  @Inject() private readonly modules!: ModuleRef;

  /** True if there is a connection to Redis, or to any server of a cluster. */
  get isConnected(): boolean {
    return this.#delayQueue.stores.isConnected;
  }

  /**
   * Inspects a queue once.
   * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
   * @throws DelayQueueError like the methods of `DelayQueueProducer`
   */
  async inspect(queue: string): Promise<InspectedQueue> {
    const { counts, paused, nextDue, now, missing } = await this.#delayQueue.queues.named(queue).store.status();
    const due = nextDue === null ? null : dateOf(nextDue);
    return { counts, paused, nextDue: due, now: new Date(now), ...(missing && { missing }) };
  }

  /** A tool has a single, unnamed instance. */
  get #delayQueue(): Instance {
    return findInstance(this.modules, UNNAMED);
  }
}
