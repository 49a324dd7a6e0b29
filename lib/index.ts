import 'reflect-metadata';
export { DelayQueueModule } from './delay-queue-module.js';
export {
  type BackoffFunction,
  type BackoffOptions,
  type ExponentialBackoff,
  type FixedBackoff,
  type BatchOptions,
  type HandlerOptions,
  type HandlerSettings,
  type QueueHandlerOptions,
  type QueueLayout,
  type QueueOptions,
  type RateOptions,
} from './options/queue-options.js';
export {
  type ClusterConnection,
  type ConnectionFactory,
  type ConnectionOptions,
  type DelayQueueModuleOptions,
  type DelayQueueOptionsFactory,
} from './options/module-options.js';
export type * from './events/observed-types.js';
export { DelayQueueListener } from './handler/listener/delay-queue-listener-decorator.js';
export { type EventListenerDecorator, OnDelayQueueEvent } from './handler/listener/on-delay-queue-event-decorator.js';
export { DelayQueueError, type DelayQueueErrorCode } from './message/delay-queue-errors.js';
export type { CheckedDue } from './message/due-time.js';
export type { CheckedDuration, Duration, DurationText, DurationUnit } from './message/duration.js';
export type {
  DeadLetter,
  DelayedMessage,
  MessageCounts,
  MessageEnvelope,
  MessageFailure,
  MessageHeaders,
  MessageSnapshot,
  MessageState,
} from './message/message.js';
export { DelayedHandler } from './handler/delayed-handler-decorator.js';
export type {
  Accepts,
  BatchHandlerDecorator,
  DecoratorOfHandler,
  DecoratorOfType,
  HandlerArguments,
  HandlerDecorator,
  HandlerMismatch,
  TypedHandlerOptions,
} from './handler/handler-types.js';
export {
  type BarePayload,
  payload,
  type PayloadClass,
  type PayloadInput,
  type PayloadOutput,
  type PayloadSpec,
  type SchemaSpec,
  type SchemaTypes,
  type TypedSchema,
  type TypedStandard,
} from './handler/definition/payload-spec.js';
export type {
  DefinedBy,
  MessageOf,
  PayloadOf,
  PayloadSpecs,
  QueueDefinition,
  SpecOf,
  TypesOf,
} from './handler/definition/queue-definition.js';
export {
  DelayQueue,
  type QueueClass,
  type QueueOfOneKind,
  type OfNoType,
  type OfType,
  type PayloadInputOf,
  type QueueOfTypes,
  type SnapshotOf,
  type TypedOfferRequest,
  type TypedQueue,
} from './producer/typed-queue.js';
export { again, type Again, type AgainOptions, DeferMessage, RejectMessage } from './message/handler-results.js';
export { DelayQueueProducer } from './producer/delay-queue-producer.js';
export type { DeadLetterPage, DeadLetterQuery, DeadLetters } from './producer/dead-letters.js';
export type { MessagePage, MessageQuery } from './producer/message-page.js';
export type { MayBeIncomplete, QueueCounts } from './producer/queue-counts.js';
export type { QueuePage, QueueQuery } from './producer/queue-list.js';
export type {
  CheckedRequests,
  OfferDue,
  OfferOptions,
  OfferRequest,
  OfferResult,
  OnDuplicate,
  TypedOfferOptions,
} from './producer/offer.js';
