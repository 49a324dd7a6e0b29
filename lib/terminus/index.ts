import 'reflect-metadata';
export { DelayQueueHealthIndicator } from './delay-queue-health-indicator.js';
export type { DelayQueueHealthOptions } from './health-options.js';
export type { QueueHealth } from './queue-health.js';

// Types from the main entry point that the exports above use.
export type { DefinedBy, QueueDefinition } from '../options/queue-definition.js';
export type { Duration } from '../message/duration.js';
export type {
  BackoffOptions,
  InstanceOptions,
  QueueEncryption,
  QueueLayout,
  QueueOptions,
} from '../options/queue-options.js';
