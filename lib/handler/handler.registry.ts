import { Injectable } from '@nestjs/common';
import { DelayQueueError } from '../delay-queue.errors.js';
import type { QueueOptions } from '../delay-queue.options.js';
import type { DelayedMessage } from '../message.js';

/** A handler bound to its instance. */
export interface DelayedMessageHandler {
  readonly queue: string;
  /** Class and method, for people. */
  readonly name: string;
  readonly options: QueueOptions;
  readonly call: (payload: unknown, message: DelayedMessage) => unknown;
}

/** The handlers of this application, one a queue. */
@Injectable()
export class HandlerRegistry {
  readonly #handlers = new Map<string, DelayedMessageHandler>();

  /**
   * @throws DelayQueueError `INVALID_HANDLER` if the queue has a handler already
   */
  add(handler: DelayedMessageHandler): void {
    const other = this.#handlers.get(handler.queue);
    if (other) {
      throw new DelayQueueError(
        'INVALID_HANDLER',
        `Queue '${handler.queue}' has two handlers, ${other.name} and ${handler.name}: remove one, or give it a queue of its own`,
      );
    }
    this.#handlers.set(handler.queue, handler);
  }

  find(queue: string): DelayedMessageHandler | undefined {
    return this.#handlers.get(queue);
  }

  all(): DelayedMessageHandler[] {
    return [...this.#handlers.values()];
  }
}
