export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js';
export { observeQueues } from './observe-queues.js';

// Of the main entry; what is above is made of them.
export type * from '../events/observed-types.js';
export type { DelayedMessage, MessageEnvelope, MessageFailure, MessageHeaders } from '../message/message.js';
