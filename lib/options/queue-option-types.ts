// The options of a queue and what they are made of. Entries whose types are made of these export them.
export type { CodecName, PayloadCodec } from '../redisson/codec/payload-codec.js';
export type {
  BackoffFunction,
  BackoffOptions,
  ExponentialBackoff,
  FixedBackoff,
  QueueOptions,
  RateOptions,
} from './queue-options.js';
export type { EntryFormat } from '../redisson/entry-format.js';
