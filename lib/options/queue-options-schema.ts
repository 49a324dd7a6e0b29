import { DEFAULT_BACKOFF } from '../message/retries.js';
import { z } from 'zod/mini';
import { MAX_DELAY } from '../message/duration.js';
import { MAX_CONCURRENCY, MAX_CONCURRENCY_WITH_RATE } from '../message/group-concurrency.js';
import { INSTANCE_NAME, INSTANCE_NAME_RULE } from '../message/instance-name.js';
import { MAX_PARTITIONS } from '../message/partition-of.js';
import { showGiven } from '../message/show-given.js';
import { type Encryption, isEncryption, type QueueEncryption } from '../message/encryption.js';
import { isLayout, type Layout, type QueueLayout } from '../store/layout.js';
import { nativeLayout } from '../store/native/native-layout.js';
import type {
  BackoffOptions,
  HandlerOptions,
  HandlerRepeat,
  HandlerSettings,
  InstanceOptions,
  QueueOptions,
  RetryOptions,
} from './queue-options.js';
import {
  duration,
  durationOr,
  HOUR,
  limitUpTo,
  mustBe,
  number,
  oneOf,
  SECOND,
  trueOrFalse,
  unlimited,
  wholeNumber,
} from './check.js';

/** The queue options with all defaults filled in. Durations are milliseconds; null means no limit. */
export type ResolvedQueueOptions = Readonly<z.output<typeof queueSchema>>;

const backoffDelay = duration(0, MAX_DELAY);
const jitter = number(0, 1);

const computedBackoff = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('fixed'), delay: backoffDelay, jitter: z.prefault(jitter, 0) }),
    z.strictObject({
      type: z.literal('exponential'),
      delay: z.prefault(backoffDelay, DEFAULT_BACKOFF.delay),
      factor: z.prefault(number(1, 100), DEFAULT_BACKOFF.factor),
      maxDelay: z.prefault(backoffDelay, DEFAULT_BACKOFF.maxDelay),
      jitter: z.prefault(jitter, DEFAULT_BACKOFF.jitter),
    }),
  ],
  {
    error: ({ input }) => {
      const { type } = input as { readonly type?: unknown };
      return `must be 'fixed' or 'exponential', such as { type: 'fixed', delay: '1s' }, not ${showGiven(type)}`;
    },
  },
);

const backoffSchema = z.union(
  [z.custom<Extract<BackoffOptions, CallableFunction>>((value) => typeof value === 'function'), computedBackoff],
  mustBe(
    "{ type: 'fixed', delay, jitter? }, { type: 'exponential', delay?, factor?, maxDelay?, jitter? } or a function " +
      "(attempt, error) => delay, such as { type: 'fixed', delay: '1s' }",
  ),
);

const attempts = wholeNumber(1, 1_000_000);

/** The schema of the attempts and backoff that travel with a message. */
export const retriesSchema = z.strictObject(
  {
    attempts: z.optional(attempts),
    // A union of one, whose error covers values that are not objects, such as a function.
    backoff: z.optional(
      z.union(
        [computedBackoff],
        mustBe(
          "{ type: 'fixed', delay, jitter? } or { type: 'exponential', delay?, factor?, maxDelay?, jitter? }, such as " +
            "{ type: 'fixed', delay: '1s' }",
        ),
      ),
    ),
  } satisfies { readonly [Name in keyof Required<RetryOptions>]: z.ZodMiniType<unknown, RetryOptions[Name]> },
  mustBe('an object with attempts or backoff, such as { attempts: 3 }'),
);

export const rateSchema = z.union(
  [unlimited, z.strictObject({ max: wholeNumber(1, 1_000_000), per: duration(100, 24 * HOUR) })],
  mustBe("{ max, per }, such as { max: 100, per: '1s' }, or 'unlimited'"),
);

export const globalConcurrencySchema = limitUpTo(10_000);

/** The longest time for which a queue keeps its history, or ids, ms: 10 years. */
const MAX_KEPT = 10 * 365.25 * 24 * HOUR;

const off = z.pipe(
  z.literal('off'),
  z.transform(() => null),
);

const groupsSchema = z.union(
  [
    off,
    z
      .strictObject({
        concurrency: z.prefault(limitUpTo(MAX_CONCURRENCY), 1),
        onRetry: z.prefault(oneOf('hold', 'pass'), 'hold'),
        rate: z.prefault(rateSchema, 'unlimited'),
      })
      .check(
        z.refine(({ concurrency, rate }) => !rate || (concurrency ?? Infinity) <= MAX_CONCURRENCY_WITH_RATE, {
          path: ['concurrency'],
          error: `must be at most ${MAX_CONCURRENCY_WITH_RATE} with a rate`,
        }),
      ),
  ],
  mustBe("{ concurrency?, onRetry?, rate? }, such as { concurrency: 1 }, or 'off'"),
);

const historySchema = z.union(
  [
    off,
    z.strictObject({
      for: duration(SECOND, MAX_KEPT),
      max: z.prefault(wholeNumber(1, 10_000_000), 100_000),
      payloads: z.prefault(trueOrFalse(), false),
    }),
  ],
  mustBe("{ for, max?, payloads? }, such as { for: '7d' }, or 'off'"),
);

const idsForSchema = z.union(
  [off, z.strictObject({ for: duration(SECOND, MAX_KEPT), max: z.prefault(wholeNumber(1, 10_000_000), 1_000_000) })],
  mustBe("{ for, max? }, such as { for: '1d' }, or 'off'"),
);

/** All options of a queue, with defaults as a user would write them. Tests compare them with the types, comments and `docs/options.md`. */
const queueFields = {
  concurrency: z.prefault(wholeNumber(1, 1000), 16),
  globalConcurrency: z.prefault(globalConcurrencySchema, 'unlimited'),
  partitions: z.prefault(wholeNumber(1, MAX_PARTITIONS), 1),
  rate: z.prefault(rateSchema, 'unlimited'),
  groups: z.prefault(groupsSchema, 'off'),
  lease: z.prefault(duration(SECOND, 24 * HOUR), '30s'),
  attempts: z.prefault(attempts, 5),
  backoff: z.prefault(backoffSchema, DEFAULT_BACKOFF),
  timeout: z.prefault(durationOr('unlimited', 1, 24 * HOUR), 'unlimited'),
  expiresAfter: z.prefault(durationOr('never', 0, MAX_DELAY), 'never'),
  onExpired: z.prefault(oneOf('drop', 'dead'), 'drop'),
  unknownTypeGrace: z.prefault(duration(0, MAX_DELAY), '24h'),
  maxPayloadBytes: z.prefault(wholeNumber(1, 512 * 1024 * 1024), 256 * 1024),
  maxMessages: z.prefault(limitUpTo(Number.MAX_SAFE_INTEGER), 'unlimited'),
  maxDeadLetters: z.prefault(wholeNumber(0, 10_000_000), 10_000),
  history: z.prefault(historySchema, 'off'),
  idsFor: z.prefault(idsForSchema, 'off'),
  checkInterval: z.prefault(duration(SECOND, HOUR), '60s'),
  blockTimeout: z.prefault(duration(SECOND, HOUR / 6), '25s'),
  layout: z.prefault(
    z.union(
      [
        z.pipe(
          z.literal('native'),
          z.transform(() => nativeLayout),
        ),
        z.custom<Layout>(isLayout) as z.ZodMiniType as z.ZodMiniType<Layout, QueueLayout>,
      ],
      mustBe("'native' or a layout object, made by the package that has the layout"),
    ),
    'native',
  ),
  encryption: z.prefault(
    z.union(
      [off, z.custom<Encryption>(isEncryption) as z.ZodMiniType as z.ZodMiniType<Encryption, QueueEncryption>],
      // Does not show what was given, because that may be a key.
      { error: "must be 'off' or what encryption() of 'nestjs-delay-queue/encryption' returns" },
    ),
    'off',
  ),
} satisfies { readonly [Name in keyof Required<QueueOptions>]: z.ZodMiniType<unknown, QueueOptions[Name]> };

/** The schema of the options given in one place. They may contradict each other, because another place can still override them. */
export const queueLayerSchema = z.strictObject(
  queueFields,
  mustBe('an object with options of the queue, such as { concurrency: 8 }'),
);

const fieldsOfHandler = {
  batch: z.optional(wholeNumber(1, 1000)),
  batchWait: z.prefault(duration(0, HOUR), 0),
  batchPerGroup: z.prefault(trueOrFalse(), false),
  // Accepts any object, because its fields are checked where the message is offered.
  repeat: z.optional(
    z.custom<HandlerRepeat>(
      (value) => typeof value === 'object' && value !== null,
      mustBe("an object with cron, such as { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' }"),
    ),
  ),
} satisfies {
  readonly [Name in keyof Omit<Required<HandlerOptions>, keyof HandlerSettings | 'instance'>]: z.ZodMiniType<
    unknown,
    HandlerOptions[Name]
  >;
};

export const instanceFields = {
  instance: z.optional(z.string(mustBe(INSTANCE_NAME_RULE)).check(z.regex(INSTANCE_NAME, mustBe(INSTANCE_NAME_RULE)))),
} satisfies { readonly [Name in keyof Required<InstanceOptions>]: z.ZodMiniType<unknown, InstanceOptions[Name]> };

export const instanceSchema = z.strictObject(instanceFields, mustBe("an object, such as { instance: 'billing' }"));

export const typedQueueSchema = z.extend(queueLayerSchema, {
  ...instanceFields,
  types: z.optional(
    z.record(z.string(), z.optional(retriesSchema), mustBe('an object, such as { remind: { attempts: 3 } }')),
  ),
});

const handlerFields = { ...fieldsOfHandler, ...instanceFields };

/** The schema of the options of a handler for one type. */
export const handlerSchema = z.extend(z.pick(queueLayerSchema, { timeout: true, backoff: true }), handlerFields);

/** The schema of the options of a handler for all types. */
export const queueHandlerSchema = z.extend(queueLayerSchema, handlerFields);

export interface BatchSize {
  /** The maximum number of messages in one call. */
  readonly size: number;
  /** How long the first message waits for others, ms. */
  readonly wait: number;
  /** True if all messages of a batch are of one group, or have none. */
  readonly isPerGroup: boolean;
}

/** The schema of a queue's options after those of all places have been merged. */
export const queueSchema = queueLayerSchema.check(
  z.superRefine((options, context) => {
    const { layout, partitions, rate, globalConcurrency, groups, history, idsFor, expiresAfter, encryption } = options;
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (partitions > 1 && rate && groups) refuse('rate', "must be 'unlimited' with partitions and groups");
    if (rate && rate.max < partitions)
      refuse('rate', `max must be at least ${partitions}, the number of partitions: each has an equal share`);
    if (globalConcurrency !== null && partitions > 1)
      refuse('globalConcurrency', "must be 'unlimited' with partitions: no claim sees all active messages");
    if (globalConcurrency !== null && !layout.can.globalConcurrency)
      refuse('globalConcurrency', `must be 'unlimited' with layout '${layout.name}'`);
    if (groups && !layout.can.groups) refuse('groups', `must be 'off' with layout '${layout.name}'`);
    if (history && !layout.can.history) refuse('history', `must be 'off' with layout '${layout.name}'`);
    if (idsFor && !layout.can.idsFor) refuse('idsFor', `must be 'off' with layout '${layout.name}'`);
    if (expiresAfter !== null && !layout.can.expiry)
      refuse('expiresAfter', `must be 'never' with layout '${layout.name}'`);
    if (partitions > 1 && !layout.can.partitions) refuse('partitions', `must be 1 with layout '${layout.name}'`);
    if (encryption && !layout.can.encryption) refuse('encryption', `must be 'off' with layout '${layout.name}'`);
  }),
);
