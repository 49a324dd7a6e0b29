import 'reflect-metadata';
export { DelayQueueInspector, type InspectedQueue } from './delay-queue-inspector.js';
export { examine, type Examination } from './examine.js';
export type { Finding } from './finding.js';
export { FunctionLibraries, type FunctionLibrariesPlace, type FunctionLibrary } from './function-libraries.js';
export { nearestNames } from '../message/nearest-name.js';
export { assertQueueName, familyOf } from '../message/queue-name.js';
export { mergeErrors } from '../search/merge-errors.js';

// Types from the main entry point that the exports above use.
export type { Duration } from '../message/duration.js';
export type { MessageCounts, MessageState } from '../message/message.js';
export type { QueueLayout } from '../store/layout.js';
export type { ConnectionOptions } from '../redis/options/connection-options.js';
