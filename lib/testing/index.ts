import 'reflect-metadata';
export type { CallBounds } from './call-bounds.js';
export { DelayQueueTester } from './delay-queue-tester.js';
export { DelayQueueTestingModule } from './delay-queue-testing-module.js';
export type { HandleOptions, TypedHandleOptions } from './handle-options.js';
export type { HandleOutcome } from './handle-outcome.js';
export type { OfferedMessage } from './offered-message.js';

// Types from the main entry point that the exports above use.
export type { CheckedDuration, Duration, DurationText } from '../message/duration.js';
export type { ComputedBackoff } from '../message/retries.js';
export type { MessageHeaders } from '../message/message.js';
export type {
  BarePayload,
  DefinedBy,
  PayloadClass,
  PayloadInput,
  PayloadOutput,
  PayloadSpec,
  QueueDefinition,
  SpecOf,
  TypedSchema,
  TypesOf,
} from '../options/queue-definition.js';
export type {
  BackoffOptions,
  QueueEncryption,
  QueueLayout,
  QueueOptions,
  RetryOptions,
  StoredBackoff,
} from '../options/queue-options.js';
