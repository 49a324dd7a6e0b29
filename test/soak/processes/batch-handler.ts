import { Injectable, type Type } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage } from '../../../lib/index.js';
import { BATCH } from '../workload/message-plan.js';
import { answerOf } from './batch-answers.js';

/**
 * A provider with one handler of batches, whose answers take every form that such a handler may give.
 *
 * @param handle - begins the work on each message
 */
export function batchHandlerOf(queue: string, handle: (messages: readonly DelayedMessage[]) => unknown[]): Type {
  let answers = 0;
  @Injectable()
  class BatchHandler {
    @DelayedHandler(queue, BATCH)
    handle(_payloads: unknown[], messages: readonly DelayedMessage[]): unknown {
      const ids = messages.map(({ id }) => id);
      return answerOf(handle(messages), { ids, turn: answers++ });
    }
  }
  return BatchHandler;
}
