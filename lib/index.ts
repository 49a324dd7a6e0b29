import 'reflect-metadata';
export { DelayQueueModule } from './delay-queue-module.js';
export {
  type BackoffOptions,
  type HandlerOptions,
  type InstanceOptions,
  type QueueHandlerOptions,
  type QueueLayout,
  type QueueOptions,
  type RetryOptions,
  type StoredBackoff,
  type TypedQueueOptions,
} from './options/queue-options.js';
export {
  type ConnectionOptions,
  type DelayQueueModuleOptions,
  type DelayQueueOptionsFactory,
} from './options/module-options.js';
export type { DelayQueueEvent, DelayQueueEvents } from './message/delay-queue-events.js';
export type { DelayQueueObserver, HandlingOutcome, OfferContext } from './message/delay-queue-observer.js';
export { DelayQueueListener, OnDelayQueueEvent } from './observers/listener-decorators.js';
export { EncryptedPayload } from './message/codec/encrypted-payload.js';
export type { QueueEncryption } from './message/encryption.js';
export { DelayQueueError, type DelayQueueErrorCode } from './message/delay-queue-errors.js';
export type { CheckedDue } from './message/duration.js';
export type { CheckedDuration, Duration, DurationText } from './message/duration.js';
export type {
  DeadLetter,
  DelayedMessage,
  LiveMessage,
  MessageCounts,
  MessageEnvelope,
  MessageFailure,
  MessageHeaders,
  MessageSnapshot,
  MessageState,
} from './message/message.js';
export type { ComputedBackoff } from './message/retries.js';
export type { Calendar, CronTimes, Occurrence, RepeatProgress, RepeatRule } from './message/repeat-rule.js';
export type { CalendarTimes, IntervalTimes, RepeatOptions, RepeatTimes } from './options/queue-options.js';
export { DelayedHandler } from './handler/delayed-handler-decorator.js';
export type {
  DecoratorOfHandler,
  HandlerArguments,
  HandlerDecorator,
  TypedHandlerOptions,
} from './handler/handler-types.js';
export {
  type BarePayload,
  type DefinedBy,
  type MessageOf,
  payload,
  type PayloadClass,
  type PayloadInput,
  type PayloadOf,
  type PayloadOutput,
  type PayloadSpec,
  type QueueDefinition,
  type SpecOf,
  type TypedSchema,
  type TypesOf,
} from './options/queue-definition.js';
export {
  DelayQueue,
  type QueueClass,
  type QueueOfOneKind,
  type QueueOfTypes,
  type TypedQueue,
} from './producer/typed-queue.js';
export type { QueueMethods } from './producer/queue-methods.js';
export type { HandledOf, SnapshotOf, TypedChange, TypedOfferRequest } from './producer/typed-messages.js';
export { again, type Again, DeferMessage, RejectMessage, RetryMessage } from './message/handler-results.js';
export {
  DelayQueueProducer,
  getDelayQueueProducerToken,
  InjectDelayQueueProducer,
} from './producer/delay-queue-producer.js';
export type { MessageChange } from './producer/changes.js';
export type { DeadLetters } from './producer/dead-letters.js';
export type { GroupList } from './groups/group-list.js';
export type { MessageGroup } from './groups/message-group.js';
export type { DeadLetterErrorPage } from './search/dead-letter-errors.js';
export type { LimitsSet, LimitsToSet, QueueLimits } from './limits/queue-limits.js';
export type { DueHistogram } from './search/due-histogram.js';
export type { MatchingMessages, MatchReport, StepOptions } from './search/matching-messages.js';
export type { MessageFilter } from './search/message-filter.js';
export type { RepeatingMessage, RepeatingMessages } from './producer/repeating-messages.js';
export type { SearchPage } from './search/search-messages.js';
export type { HandledMessage } from './history/handled-message.js';
export type { MessagePage, MessageQuery, PageQuery } from './message/page.js';
export type { QueueCounts, QueuePage, QueueStatus } from './producer/queue-views.js';
export type { WorkerReport } from './heartbeat/worker-report.js';
export type {
  CheckedRequests,
  OfferDue,
  OfferOptions,
  OfferRequest,
  OfferResult,
  TypedOfferOptions,
} from './producer/offer.js';
