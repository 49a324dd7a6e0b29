import { z } from 'zod';
import { LONGEST_DELAY } from '../message/duration.js';
import type { PayloadCodec } from '../codec/redisson/payload-codec.js';
import { MOST_PARTITIONS } from '../message/partition-of.js';
import type { BackoffFunction, BatchOptions, QueueOptions } from './queue-options.js';
import type { CodecName } from '../codec/redisson/payload-codec.js';
import { duration, HOUR, number, oneOf, SECOND, wholeNumber } from './values.schema.js';

/** The queue options with every default filled in. Durations are milliseconds; null means no limit. */
export type ResolvedQueueOptions = Readonly<z.output<typeof queueSchema>>;

/** The backoff with its durations in milliseconds. */
export type ResolvedBackoff = ResolvedQueueOptions['backoff'];

// With any other braces a cluster would spread the queue's keys over several slots.
const REDISSON_NAME = /^(?=.{1,512}$)[^{}]*(\{[^{}]+\}[^{}]*)?$/s;
const REDISSON_NAME_RULE = 'must be 1–512 characters, with braces only as one pair around something';

const CODEC_NAMES = ['json', 'string', 'buffer', 'jackson', 'kryo5'] as const satisfies readonly CodecName[];

const backoffDelay = duration(0, LONGEST_DELAY);
const jitter = number(0, 1);

const backoffSchema = z.union(
  [
    z.custom<BackoffFunction>((value) => typeof value === 'function'),
    z.discriminatedUnion(
      'type',
      [
        z.strictObject({ type: z.literal('fixed'), delay: backoffDelay, jitter: jitter.prefault(0) }),
        z.strictObject({
          type: z.literal('exponential'),
          delay: backoffDelay.prefault('1s'),
          factor: number(1, 100).prefault(2),
          maxDelay: backoffDelay.prefault('1h'),
          jitter: jitter.prefault(0.2),
        }),
      ],
      { error: "must be 'fixed' or 'exponential'" },
    ),
  ],
  { error: "must be { type: 'fixed', delay }, { type: 'exponential', delay?, factor?, maxDelay? } or a function" },
);

const rateSchema = z.union(
  [
    z.literal('unlimited').transform(() => null),
    z.strictObject({ max: wholeNumber(1, 1_000_000), per: duration(100, 24 * HOUR) }),
  ],
  { error: "must be { max, per }, such as { max: 100, per: '1s' }, or 'unlimited'" },
);

/**
 * Every option of a queue: what is accepted, and the default as a user would write it. The types, their comments and the
 * table in `docs/options.md` are checked against this.
 */
const queueFields = {
  concurrency: wholeNumber(1, 1000).prefault(16),
  partitions: wholeNumber(1, MOST_PARTITIONS).prefault(1),
  rate: rateSchema.prefault('unlimited'),
  lease: duration(SECOND, 24 * HOUR).prefault('30s'),
  attempts: wholeNumber(1, 1_000_000).prefault(5),
  backoff: backoffSchema.prefault({ type: 'exponential' }),
  timeout: z.union([z.literal('none').transform(() => null), duration(1, 24 * HOUR)]).prefault('none'),
  unknownTypeGrace: duration(0, LONGEST_DELAY).prefault('24h'),
  maxPayloadBytes: wholeNumber(1, 512 * 1024 * 1024).prefault(256 * 1024),
  maxMessages: z
    .union([z.literal('unlimited').transform(() => null), wholeNumber(1, Number.MAX_SAFE_INTEGER)], {
      error: "must be a whole number from 1, or 'unlimited'",
    })
    .prefault('unlimited'),
  maxDeadLetters: wholeNumber(0, 10_000_000).prefault(10_000),
  checkInterval: duration(SECOND, HOUR).prefault('60s'),
  blockTimeout: duration(SECOND, HOUR / 6).prefault('25s'),
  layout: oneOf('native', 'redisson').prefault('native'),
  codec: z
    .union([z.enum(CODEC_NAMES), z.custom<PayloadCodec>(isCodec)], {
      error: `must be ${CODEC_NAMES.map((name) => `'${name}'`).join(', ')} or an object with encode() and decode()`,
    })
    .prefault('json'),
  format: oneOf('Bc0Lc0', 'dLc0').prefault('Bc0Lc0'),
  redissonName: z.string().regex(REDISSON_NAME, { error: REDISSON_NAME_RULE }).optional(),
} satisfies { readonly [Name in keyof Required<QueueOptions>]: z.ZodType<unknown, QueueOptions[Name]> };

/** For the options given in one place: they may contradict each other, because another place can still override them. */
export const queueLayerSchema = z.strictObject(queueFields);

const batchFields = {
  batch: wholeNumber(1, 1000).optional(),
  batchWait: duration(0, HOUR).prefault(0),
} satisfies { readonly [Name in keyof Required<BatchOptions>]: z.ZodType<unknown, BatchOptions[Name]> };

/** For the options of a handler of one type. */
export const handlerSchema = queueLayerSchema.pick({ timeout: true, backoff: true }).extend(batchFields);

/** For the options of a handler of every type. */
export const queueHandlerSchema = queueLayerSchema.extend(batchFields);

/** How many messages a handler takes in one call. */
export interface BatchSize {
  /** The most messages. */
  readonly size: number;
  /** How long the first one waits for others, ms. */
  readonly wait: number;
}

/** For the options of all places merged. */
export const queueSchema = queueLayerSchema.superRefine((options, context) => {
  const { layout, codec, redissonName, partitions, rate } = options;
  const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
  if (partitions > 1 && rate !== null) refuse('rate', "must be 'unlimited' with partitions: no claim sees them all");
  if (layout === 'redisson') {
    if (partitions > 1) refuse('partitions', "must be 1 with layout 'redisson'");
    return;
  }
  if (codec !== 'json') refuse('codec', "must be 'json' with layout 'native'");
  if (redissonName !== undefined) refuse('redissonName', "must be left out with layout 'native'");
});

function isCodec(value: unknown): boolean {
  const { encode, decode } = (value ?? {}) as Partial<PayloadCodec>;
  return typeof encode === 'function' && typeof decode === 'function';
}
