export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js';
export { observeQueues } from './observe-queues.js';

// Of the main entry; what is above is made of them.
export type {
  BackgroundWork,
  Counted,
  DeathCause,
  DelayQueueEvent,
  DelayQueueEvents,
  EventName,
  Failing,
  Lasting,
  OfAttempt,
  OfConnection,
  OfHandler,
  OfMessage,
  OfQueue,
  OfWork,
} from '../events/delay-queue-events.js';
export type {
  Acknowledged,
  BecameDeadLetter,
  ComesAgain,
  DelayQueueObserver,
  GivenBack,
  HandlingOutcome,
  OfferContext,
  OfferedEnvelope,
  WillBeRetried,
} from '../events/delay-queue-observer.js';
export type { DelayedMessage, MessageEnvelope, MessageFailure, MessageHeaders } from '../message/message.js';
