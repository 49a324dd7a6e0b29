import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { dateOf } from '../message/due-time.js';
import type { MessageCounts } from '../message/message.js';
import { UNNAMED } from '../message/instance-name.js';
import { findInstance, type Instance } from '../runtime/instance.js';

/** A queue at one instant; with `partitions`, at one for each. */
export interface InspectedQueue {
  /** How many messages are in each state. */
  readonly counts: MessageCounts;
  /** Whether it is paused. */
  readonly paused: boolean;
  /** When the earliest delayed message falls due; null: none is delayed. */
  readonly nextDue: Date | null;
  /** The instant, by the clock of Redis. */
  readonly now: Date;
  /** The partitions that do not answer, from 0: what is in them is left out. Absent: none. */
  readonly missing?: readonly number[];
}

/**
 * Looks at queues for a tool, such as a command line: all that `counts`, `nextDue` and `isPaused` of the producer tell, in one call.
 * Provide it in a module of an application that imports `DelayQueueModule`.
 *
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
  // Injected into a property: constructor parameters, and every type they refer to, would be part of the public API.
  @Inject() private readonly modules!: ModuleRef;

  /** Whether there is a connection to Redis, or to any server of a cluster. */
  get isConnected(): boolean {
    return this.#delayQueue.stores.isConnected;
  }

  /**
   * Looks at a queue once.
   *
   * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
   * @throws DelayQueueError as the methods of `DelayQueueProducer`
   */
  async inspect(queue: string): Promise<InspectedQueue> {
    const { counts, paused, nextDue, now, missing } = await this.#delayQueue.queues.named(queue).store.status();
    const due = nextDue === null ? null : dateOf(nextDue);
    return { counts, paused, nextDue: due, now: new Date(now), ...(missing && { missing }) };
  }

  /** A tool has one, without a name. */
  get #delayQueue(): Instance {
    return findInstance(this.modules, UNNAMED);
  }
}
