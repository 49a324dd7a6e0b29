export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js';
export { observeQueues } from './observe-queues.js';

// Types from the main entry point that the exports above use.
export type { DelayQueueEvent, DelayQueueEvents } from '../message/delay-queue-events.js';
export type { DelayQueueObserver, HandlingOutcome, OfferContext } from '../message/delay-queue-observer.js';
export type { InstanceOptions } from '../options/queue-options.js';
export type {
  DelayedMessage,
  LiveMessage,
  MessageEnvelope,
  MessageFailure,
  MessageHeaders,
} from '../message/message.js';
export type { ComputedBackoff } from '../message/retries.js';
export type { Occurrence, RepeatRule } from '../message/repeat-rule.js';
