import { z } from 'zod';
import { showFailure } from './message/failure.js';
import { DelayQueueError } from './message/delay-queue.errors.js';
import {
  type BackoffFunction,
  type ClusterConnection,
  type CodecName,
  type ConnectionOptions,
  DEFAULTS,
  type DelayQueueModuleOptions,
  type EntryFormat,
  type ExponentialBackoff,
  type FixedBackoff,
  type QueueOptions,
} from './delay-queue.options.js';
import { LONGEST_DELAY, parseDuration } from './message/duration.js';
import type { PayloadCodec } from './codec/redisson/payload-codec.js';
import { QUEUE_NAME, QUEUE_NAME_RULE } from './message/queue-name.js';
import type { OptionProblem } from './store/redis/read-client-options.js';
import { examineConnection, isCluster } from './store/redis/redis-client.js';

/** Module options with every default filled in; lengths of time are milliseconds. */
export interface ResolvedModuleOptions {
  readonly connection: ConnectionOptions;
  readonly store: 'redis' | 'memory';
  readonly prefix: string;
  readonly allowEviction: boolean;
  readonly consume: boolean;
  readonly shutdownTimeout: number;
  readonly offerTimeout: number;
  readonly defaults: QueueOptions;
  readonly queues: Readonly<Record<string, QueueOptions>>;
}

/**
 * A queue's options with every default filled in; lengths of time are milliseconds, null is no limit. Not derived from the
 * schema: the declarations that are published would drag in those of zod.
 */
export interface ResolvedQueueOptions {
  readonly concurrency: number;
  readonly lease: number;
  readonly attempts: number;
  readonly backoff: ResolvedBackoff;
  readonly timeout: number | null;
  readonly maxPayloadBytes: number;
  readonly maxMessages: number | null;
  readonly maxDeadLetters: number;
  readonly checkInterval: number;
  readonly blockTimeout: number;
  readonly layout: 'native' | 'redisson';
  readonly codec: CodecName | PayloadCodec;
  readonly format: EntryFormat;
  readonly redissonName?: string | undefined;
}

/** The backoff with its durations in milliseconds. */
export type ResolvedBackoff = Computed<FixedBackoff> | Computed<ExponentialBackoff> | BackoffFunction;

/** With no default left out, and each duration read. */
type Computed<Backoff> = { readonly [Field in keyof Backoff]-?: Field extends 'type' ? Backoff[Field] : number };

// With other braces a cluster would spread the keys of the queue over several slots.
const REDISSON_NAME = /^(?=.{1,512}$)[^{}]*(\{[^{}]+\}[^{}]*)?$/s;
const REDISSON_NAME_RULE = 'must be 1–512 characters, with braces only as one pair around something';

const CODEC_NAMES = ['json', 'string', 'buffer', 'jackson', 'kryo5'] as const satisfies readonly CodecName[];

const SECOND = 1000;
const HOUR = 3_600_000;

const duration = (min: number, max: number) =>
  z.unknown().transform((value, context) => {
    const parsed = parseDuration(value, { min, max });
    if ('milliseconds' in parsed) return parsed.milliseconds;
    context.issues.push({ code: 'custom', message: parsed.problem, input: value });
    return z.NEVER;
  });

const wholeNumber = (min: number, max: number) => {
  const rule = { error: `must be a whole number from ${min} to ${max}` };
  return z.int(rule).min(min, rule).max(max, rule);
};

const number = (min: number, max: number) => {
  const rule = { error: `must be a number from ${min} to ${max}` };
  return z.number(rule).min(min, rule).max(max, rule);
};

function isCodec(value: unknown): boolean {
  const { encode, decode } = (value ?? {}) as Partial<PayloadCodec>;
  return typeof encode === 'function' && typeof decode === 'function';
}

const jitter = number(0, 1);
const backoffDelay = duration(0, LONGEST_DELAY);

const backoffSchema = z.union(
  [
    z.custom<BackoffFunction>((value) => typeof value === 'function'),
    z.discriminatedUnion(
      'type',
      [
        z.strictObject({ type: z.literal('fixed'), delay: backoffDelay, jitter: jitter.default(0) }),
        z.strictObject({
          type: z.literal('exponential'),
          delay: backoffDelay.prefault(DEFAULTS.queue.backoff.delay),
          factor: number(1, 100).default(DEFAULTS.queue.backoff.factor),
          maxDelay: backoffDelay.prefault(DEFAULTS.queue.backoff.maxDelay),
          jitter: jitter.default(DEFAULTS.queue.backoff.jitter),
        }),
      ],
      { error: "must be 'fixed' or 'exponential'" },
    ),
  ],
  { error: "must be { type: 'fixed', delay }, { type: 'exponential', delay?, factor?, maxDelay? } or a function" },
);

const queueFields = {
  concurrency: wholeNumber(1, 1000),
  lease: duration(SECOND, 24 * HOUR),
  attempts: wholeNumber(1, 1_000_000),
  backoff: backoffSchema,
  timeout: z.union([z.literal('none').transform(() => null), duration(1, 24 * HOUR)]),
  maxPayloadBytes: wholeNumber(1, 512 * 1024 * 1024),
  maxMessages: z.union([z.literal('unlimited').transform(() => null), wholeNumber(1, Number.MAX_SAFE_INTEGER)], {
    error: "must be a whole number from 1, or 'unlimited'",
  }),
  maxDeadLetters: wholeNumber(0, 10_000_000),
  checkInterval: duration(SECOND, HOUR),
  blockTimeout: duration(SECOND, HOUR / 6),
  layout: z.enum(['native', 'redisson'], { error: "must be 'native' or 'redisson'" }),
  codec: z.union([z.enum(CODEC_NAMES), z.custom<PayloadCodec>(isCodec)], {
    error: `must be ${CODEC_NAMES.map((name) => `'${name}'`).join(', ')} or an object with encode() and decode()`,
  }),
  format: z.enum(['Bc0Lc0', 'dLc0'], { error: "must be 'Bc0Lc0' or 'dLc0'" }),
  redissonName: z.string().regex(REDISSON_NAME, { error: REDISSON_NAME_RULE }).optional(),
};

const completeQueueSchema = z.strictObject(queueFields).superRefine(({ layout, codec, redissonName }, context) => {
  if (layout === 'redisson') return;
  const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
  if (codec !== 'json') refuse('codec', "must be 'json' with layout 'native'");
  if (redissonName !== undefined) refuse('redissonName', "must be left out with layout 'native'");
});
/** Checks what is given, and fills in nothing: layers are merged as the user wrote them. */
const partialQueueSchema = z.strictObject(queueFields).partial();

const connectionSchema = z
  .union([z.string(), z.function(), z.looseObject({})], {
    error:
      'must be a redis:// or rediss:// URL, ioredis options, { cluster: { nodes } } or a function that makes clients',
  })
  .superRefine((connection, context) => {
    for (const { path, message } of connectionProblems(connection as ConnectionOptions)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });

const moduleSchema = z.strictObject({
  connection: connectionSchema.default(DEFAULTS.connection),
  store: z.enum(['redis', 'memory'], { error: "must be 'redis' or 'memory'" }).default(DEFAULTS.store),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,64}$/, { error: 'must be 1–64 of the characters A–Z a–z 0–9 _ . : -' })
    .default(DEFAULTS.prefix),
  allowEviction: z.boolean({ error: 'must be true or false' }).default(DEFAULTS.allowEviction),
  consume: z.boolean({ error: 'must be true or false' }).default(DEFAULTS.consume),
  defaults: partialQueueSchema
    .refine(({ redissonName }) => redissonName === undefined, {
      path: ['redissonName'],
      error: 'would be that of all queues: set it in `queues`',
    })
    .optional(),
  queues: z.record(z.string().regex(QUEUE_NAME, { error: QUEUE_NAME_RULE }), partialQueueSchema).optional(),
  shutdownTimeout: duration(0, HOUR).prefault(DEFAULTS.shutdownTimeout),
  offerTimeout: duration(10, HOUR / 6).prefault(DEFAULTS.offerTimeout),
});

/**
 * Checks the module's options and fills in the defaults.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function resolveModuleOptions(options: DelayQueueModuleOptions): ResolvedModuleOptions {
  const parsed = check(moduleSchema, options, 'DelayQueueModule options');
  return {
    ...parsed,
    connection: options.connection ?? DEFAULTS.connection,
    defaults: options.defaults ?? {},
    queues: options.queues ?? {},
  };
}

/**
 * Merges a queue's options, later layers over earlier ones, over the defaults.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function resolveQueueOptions(...layers: readonly QueueOptions[]): ResolvedQueueOptions {
  return merge(layers, 'queue options');
}

/** As {@link resolveQueueOptions}, of a queue that the error can name. */
export function resolveOptionsOf(queue: string, ...layers: readonly QueueOptions[]): ResolvedQueueOptions {
  return merge(layers, `options of queue '${queue}'`);
}

function merge(layers: readonly QueueOptions[], place: string): ResolvedQueueOptions {
  return check(completeQueueSchema, Object.assign({}, DEFAULTS.queue, ...layers.map(withoutUndefined)), place);
}

/**
 * Checks the options of a decorator on their own, so that the error can name the place.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function validateQueueOptions(options: unknown, place: string): void {
  check(partialQueueSchema, options, place);
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  let problems: string[];
  let cause: unknown;
  try {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    problems = result.error.issues.flatMap((issue) => describeIssue(issue, []));
    cause = result.error;
  } catch (error) {
    problems = [`a value cannot be read (${showFailure(error)})`];
    cause = error;
  }
  throw new DelayQueueError('INVALID_OPTION', `${place}: ${[...new Set(problems)].join('; ')}`, { cause });
}

function describeIssue(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): string[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${show([...path, key])} is not an option; check its spelling`);
  }
  if (issue.code === 'invalid_key') return [`${show(path)}: ${QUEUE_NAME_RULE}`];
  // Of a union's branches, the one that got furthest names the field that is really wrong.
  if (issue.code === 'invalid_union') {
    const furthest = issue.errors.find((branch) =>
      branch.every((inner) => inner.path.length > 0 || isUnknownKey(inner)),
    );
    if (furthest) return furthest.flatMap((inner) => describeIssue(inner, path));
    const custom = issue.errors.flat().find((inner) => inner.code === 'custom');
    if (custom && issue.message === 'Invalid input') return describeIssue(custom, path);
  }
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return [`${show(path)} must be ${issue.expected === 'record' ? 'an object' : `of type ${issue.expected}`}`];
  }
  return [`${show(path)} ${issue.message}`];
}

const isUnknownKey = (issue: z.core.$ZodIssue) => issue.code === 'unrecognized_keys';
const show = (path: readonly PropertyKey[]) => (path.length === 0 ? 'the value' : path.map(String).join('.'));

function withoutUndefined(options: QueueOptions): QueueOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function connectionProblems(connection: ConnectionOptions): readonly OptionProblem[] {
  if (typeof connection === 'object' && 'duplicate' in connection) {
    const message = 'is a client, but several are needed: give a function, (overrides) => client.duplicate(overrides)';
    return [{ path: [], message }];
  }
  const problems = isCluster(connection) ? clusterProblems(connection) : [];
  return problems.length > 0 ? problems : examineConnection(connection).problems;
}

function clusterProblems({ cluster, ...others }: ClusterConnection): readonly OptionProblem[] {
  const { nodes, options: _options, ...more } = { ...(cluster as Partial<ClusterConnection['cluster']> | undefined) };
  if (!Array.isArray(nodes) || nodes.length === 0) {
    return [{ path: ['cluster', 'nodes'], message: 'must be a non-empty array' }];
  }
  const unknown = [...Object.keys(others).map((key) => [key]), ...Object.keys(more).map((key) => ['cluster', key])];
  return unknown.map((path) => ({ path, message: 'is not an option of a cluster; check its place and spelling' }));
}
