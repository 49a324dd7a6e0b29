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
  Explained,
  Failing,
  Lasting,
  Named,
  OfAttempt,
  OfConnection,
  OfDeath,
  OfFailure,
  OfHandler,
  OfHandlers,
  OfMessage,
  OfMistake,
  OfObserver,
  OfOptions,
  OfQueue,
  OfRepair,
  OfTakenBack,
  OfUnknown,
  OfUnreadable,
  OfWork,
  OverriddenOption,
  Unsettled,
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
