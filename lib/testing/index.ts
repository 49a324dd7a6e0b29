export type { CallBounds } from './call-bounds.js';
export { DelayQueueTester } from './delay-queue.tester.js';
export { DelayQueueTestingModule } from './delay-queue-testing.module.js';
export type { HandleOptions, TypedHandleOptions } from './handle-options.js';
export type { HandleOutcome } from './handle-outcome.js';
export type { OfferedMessage } from './offered-message.js';

// Of the main entry; what is above is made of them.
export type { Duration } from '../message/duration.js';
export type { MessageHeaders } from '../message/message.js';
