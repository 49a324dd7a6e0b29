import type { Clock } from '../../lib/timing/clock.js';
import type { SharedByLoops } from '../../lib/consumer/admission.js';
import { ConsumerLoop } from '../../lib/consumer/consumer-loop.js';
import { MessageRunner } from '../../lib/consumer/message-runner.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import type { HandlerCall } from '../../lib/handler/delayed-message-handler.js';
import { Slots } from '../../lib/consumer/slots.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import { NO_TYPE } from '../../lib/message/message-type.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import type { QueueOptions } from '../../lib/options/queue-options.js';
import type { Events } from '../../lib/events/events.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { TransferScheduler } from '../../lib/consumer/transfer-scheduler.js';

export type Handler = (payload: unknown, message: DelayedMessage) => unknown;

export interface ConsumerParts {
  readonly store: MessageStore;
  readonly clock: Clock;
  readonly events: Events;
}

/** How long the consumer's store tries a call, ms. */
export const ANSWER_TIMEOUT = 5000;

/** A scheduler and a consumer of a queue, or of a partition, as a process has them. */
export function startConsumer(
  { store, clock, events }: ConsumerParts,
  call: Handler,
  options: QueueOptions = {},
  given?: SharedByLoops,
): ConsumerLoop {
  const settings = resolveQueueOptions({ attempts: 3, backoff: { type: 'fixed', delay: 1000 } }, options);
  const runner = new MessageRunner({
    routes: new Map([
      [
        NO_TYPE,
        {
          check: undefined,
          call: call as HandlerCall,
          retryPolicy: new RetryPolicy(settings, events),
          timeout: settings.timeout,
          batch: undefined,
        },
      ],
    ]),
    unknownTypes: new UnknownTypes({ grace: settings.unknownTypeGrace, events }),
    codec: nativeCodec,
    outcomes: new Outcomes({ ...settings, codec: nativeCodec, clock, events }),
    clock,
    line: undefined,
  });
  const shared = given ?? { slots: new Slots(settings.concurrency, clock), loops: 1 };
  const loop = new ConsumerLoop({
    queue: 'orders',
    store,
    runner,
    clock,
    events,
    settings: { ...settings, batch: 1 },
    answerTimeout: ANSWER_TIMEOUT,
    shared,
  });
  new TransferScheduler({ queue: 'orders', store, clock, events, id: 'a', checkInterval: 60_000 }).start();
  loop.start();
  return loop;
}
