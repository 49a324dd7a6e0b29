// The options of a queue and what they are made of. Entries whose types are made of these export them.
export type {
  BackoffFunction,
  BackoffOptions,
  ExponentialBackoff,
  FixedBackoff,
  QueueOptions,
  RateOptions,
} from './queue-options.js';
export type { QueueLayout } from '../store/layout.js';
