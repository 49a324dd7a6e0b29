import { Injectable } from '@nestjs/common';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { QueueOptions } from '../options/queue-options.js';
import type { DelayedMessage } from '../message/message.js';

/** A method that handles messages, bound to its instance. */
export interface DelayedMessageHandler {
  /** Class and method, for people. */
  readonly name: string;
  readonly call: (payload: unknown, message: DelayedMessage) => unknown;
}

/** A queue that this application handles. */
export interface HandledQueue {
  readonly name: string;
  /** The options that its decorator declares. */
  readonly options: QueueOptions;
  readonly handler: DelayedMessageHandler;
}

/** The queues that this application handles, each with its handler. */
@Injectable()
export class HandlerRegistry {
  readonly #queues = new Map<string, HandledQueue>();

  /**
   * Adds a queue with its handler.
   *
   * @throws DelayQueueError `INVALID_HANDLER` if the queue already has a handler
   */
  add(queue: HandledQueue): void {
    const other = this.#queues.get(queue.name);
    if (other) {
      throw new DelayQueueError(
        'INVALID_HANDLER',
        `Queue '${queue.name}' has two handlers, ${other.handler.name} and ${queue.handler.name}: remove one, or give it another queue`,
      );
    }
    this.#queues.set(queue.name, queue);
  }

  find(queue: string): HandledQueue | undefined {
    return this.#queues.get(queue);
  }

  all(): HandledQueue[] {
    return [...this.#queues.values()];
  }
}
