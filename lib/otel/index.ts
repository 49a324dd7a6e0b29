export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js';
export { observeQueues, type QueueStates } from './observe-queues.js';

// Of the main entry; what is above is made of them.
export type {
  BackgroundWork,
  DeathCause,
  DelayQueueEvent,
  DelayQueueEvents,
  EventName,
} from '../events/delay-queue-events.js';
export type {
  DelayQueueObserver,
  HandlingOutcome,
  OfferContext,
  OfferedEnvelope,
} from '../events/delay-queue-observer.js';
export type {
  DelayedMessage,
  MessageCounts,
  MessageEnvelope,
  MessageFailure,
  MessageHeaders,
  MessageState,
} from '../message/message.js';
