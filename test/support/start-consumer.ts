import { type Clock, RemoteClock } from '../../lib/timing/clock.js';
import { ConsumerLoop } from '../../lib/consumer/consumer-loop.js';
import { callStep } from '../../lib/consumer/handler-steps.js';
import { MessageRunner } from '../../lib/consumer/message-runner.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import { Slots } from '../../lib/consumer/capacity.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import { NO_TYPE } from '../../lib/message/message-id.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import type { QueueOptions } from '../../lib/options/queue-options.js';
import type { Events } from '../../lib/events/events.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { TransferScheduler } from '../../lib/consumer/transfer-scheduler.js';
import { idleConsumer } from './idle-consumer.js';

export type Handler = (payload: unknown, message: DelayedMessage) => unknown;

export interface ConsumerParts {
  readonly store: MessageStore;
  readonly clock: Clock;
  readonly events: Events;
}

/** The time for which the consumer's store tries a call, ms. */
export const ANSWER_TIMEOUT = 5000;

/** A scheduler and a consumer of a queue, or of a partition, as a process has them. */
export function startConsumer(
  { store, clock, events }: ConsumerParts,
  call: Handler,
  options: QueueOptions = {},
  slots?: Slots,
): ConsumerLoop {
  const settings = resolveQueueOptions({ attempts: 3, backoff: { type: 'fixed', delay: 1000 } }, options);
  const outcomes = new Outcomes({ ...settings, codec: nativeCodec, clock, events });
  const rules = { check: undefined, retryPolicy: new RetryPolicy(settings, events), timeout: settings.timeout };
  const runner = new MessageRunner({
    handles: new Map([[NO_TYPE, callStep(call, { rules, outcomes, clock })]]),
    unknownTypes: new UnknownTypes({ grace: settings.unknownTypeGrace, events }),
    codec: nativeCodec,
    outcomes,
  });
  const storeClock = new RemoteClock(50);
  const loop = new ConsumerLoop({
    queue: 'orders',
    store,
    runner,
    clock,
    events,
    lease: settings.lease,
    blockTimeout: settings.blockTimeout,
    answerTimeout: ANSWER_TIMEOUT,
    storeClock,
    slots: slots ?? new Slots(settings.concurrency, 1),
  });
  const common = { queue: 'orders', store, clock, events, storeClock, random: Math.random };
  // The scheduler only transfers, so that the loop makes all claims.
  new TransferScheduler({ ...common, id: 'a', checkInterval: 60_000, consumer: idleConsumer }).start();
  loop.start();
  return loop;
}
