import type { z } from 'zod/mini';
import { check } from './check.js';
import type { DelayQueueModuleOptions } from './module-options.js';
import { moduleFrameSchema, moduleSchema, queuesSchema, type ResolvedModuleOptions } from './module-options-schema.js';
import { namesNoServer } from '../redis/options/connection-options.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Retries } from '../message/retries.js';
import type {
  HandlerOptions,
  HandlerRepeat,
  HandlerSettings,
  InstanceOptions,
  QueueHandlerOptions,
  QueueOptions,
  RetryOptions,
  TypedQueueOptions,
} from './queue-options.js';
import {
  type BatchSize,
  handlerSchema,
  instanceSchema,
  queueHandlerSchema,
  queueLayerSchema,
  queueSchema,
  type ResolvedQueueOptions,
  retriesSchema,
  typedQueueSchema,
} from './queue-options-schema.js';
import { redisRules } from '../redis/options/client-options.js';

// Every function here that validates throws a DelayQueueError `INVALID_OPTION`, unless it says otherwise, that names each invalid field.

const MODULE = 'DelayQueueModule options';

/** Checks the module's options and fills in the defaults. */
export function resolveModuleOptions(options: DelayQueueModuleOptions): ResolvedModuleOptions {
  return completed(options, check(moduleSchema, options, MODULE, placeOf));
}

/**
 * Like {@link resolveModuleOptions}, for thousands of `queues`.
 * @param forEach - calls `check` for each entry, and may yield to the event loop in between
 */
export async function resolveModuleOptionsInSlices(
  options: DelayQueueModuleOptions,
  forEach: <Entry>(entries: readonly Entry[], check: (entry: Entry) => void) => Promise<void>,
): Promise<ResolvedModuleOptions> {
  try {
    const parsed = check(moduleFrameSchema, options, MODULE, placeOf);
    // The cast below is sound only once the check has passed.
    const entries = Object.entries(parsed.queues ?? {}) as [string, QueueOptions][];
    await forEach(entries, (entry) => check(queuesSchema, Object.fromEntries([entry]), MODULE, placeOf));
    return completed(options, parsed);
  } catch {
    // Checks everything again, to throw an error that names every mistake.
    return resolveModuleOptions(options);
  }
}

function completed(
  options: DelayQueueModuleOptions,
  parsed: Omit<z.output<typeof moduleSchema>, 'queues'>,
): ResolvedModuleOptions {
  const { connection = parsed.connection, defaults = {}, queues = {}, observers = [] } = options;
  return {
    ...parsed,
    connection,
    hasDefaultConnection: namesNoServer(options.connection),
    defaults,
    queues,
    observers,
  };
}

/** Merges a queue's options over the defaults. Later layers override earlier ones. */
export function resolveQueueOptions(...layers: readonly QueueOptions[]): ResolvedQueueOptions {
  return merge(layers, 'queue options');
}

/** Like {@link resolveQueueOptions}, with the queue's name in the error. */
export function resolveOptionsOf(queue: string, ...layers: readonly QueueOptions[]): ResolvedQueueOptions {
  return merge(layers, `options of queue '${queue}'`);
}

function merge(layers: readonly QueueOptions[], place: string): ResolvedQueueOptions {
  return check(queueSchema, Object.assign({}, ...layers.map(withoutUndefined)) as QueueOptions, place, placeOf);
}

/** Removes undefined options, which must not override anything. */
export function withoutUndefined(options: QueueOptions): QueueOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Checks the options of a typed queue before they are merged, so the error can name the place where they were given. */
export function readTypedQueueOptions(
  given: TypedQueueOptions,
  place: string,
): {
  readonly queueOptions: QueueOptions;
  /** The attempts and backoff of messages, by type. */
  readonly retries: ReadonlyMap<string, Retries>;
  readonly instance: string | undefined;
} {
  const { instance, types } = check(typedQueueSchema, given, place, placeOf);
  if (instance === undefined && types === undefined) return { queueOptions: given, retries: new Map(), instance };
  const { instance: _instance, types: _types, ...queueOptions } = given;
  const retries = new Map(Object.entries(types ?? {}).flatMap(([type, own]) => (own ? [[type, own] as const] : [])));
  return { queueOptions, retries, instance };
}

/** Reads the attempts and backoff of a message. @throws DelayQueueError `INVALID_ARGUMENT` */
export function readRetries({ attempts, backoff }: RetryOptions): Retries {
  const given = { ...(attempts !== undefined && { attempts }), ...(backoff !== undefined && { backoff }) };
  return check(retriesSchema, given, 'options', undefined, 'INVALID_ARGUMENT');
}

/** Checks the options of a listener and reads its instance. */
export function readInstance(given: InstanceOptions, place: string): string | undefined {
  return check(instanceSchema, given, place, placeOf).instance;
}

/** The options of a handler, sorted by what they apply to. */
export interface ReadHandlerOptions {
  readonly queueOptions: QueueOptions;
  readonly options: HandlerSettings;
  readonly batch: BatchSize | undefined;
  readonly repeat: HandlerRepeat | undefined;
  /** Undefined for the instance without a name. */
  readonly instance: string | undefined;
}

/** Checks the options of a handler for all types. */
export function readQueueHandlerOptions(given: QueueHandlerOptions, place: string): ReadHandlerOptions {
  const parsed = check(queueHandlerSchema, given, place, placeOf);
  const { batch: _batch, batchWait: _wait, batchPerGroup: _perGroup, repeat, instance, ...queueOptions } = given;
  return { queueOptions, options: {}, batch: batchOf(parsed, given, place), repeat, instance };
}

/** Checks the options of a handler for one type. If it has options of a queue, the error says where they belong. */
export function readHandlerOptions(given: HandlerOptions, place: string): ReadHandlerOptions {
  const names = typeof given === 'object' && (given as unknown) !== null ? Object.keys(given) : [];
  const misplaced = names.filter((name) => name in queueLayerSchema.shape && !(name in handlerSchema.shape));
  if (misplaced.length > 0) {
    throw new DelayQueueError(
      'INVALID_OPTION',
      `${place}: ${misplaced.join(', ')}: options of the queue, which all its types share; set them in \`queues\` of ` +
        'DelayQueueModule.forRoot(), or on the handler without a type',
    );
  }
  const parsed = check(handlerSchema, given, place, placeOf);
  const { batch: _batch, batchWait: _wait, batchPerGroup: _perGroup, repeat, instance, ...options } = given;
  return { queueOptions: {}, options, batch: batchOf(parsed, given, place), repeat, instance };
}

function batchOf(
  { batch, batchWait, batchPerGroup }: Pick<z.output<typeof handlerSchema>, 'batch' | 'batchWait' | 'batchPerGroup'>,
  given: HandlerOptions,
  place: string,
): BatchSize | undefined {
  if (batch !== undefined) return { size: batch, wait: batchWait, isPerGroup: batchPerGroup };
  const needy = given.batchWait === undefined ? batchPerGroup && 'batchPerGroup' : 'batchWait';
  if (!needy) return undefined;
  const problem = `${needy} needs batch, the maximum number of messages in one call`;
  throw new DelayQueueError('INVALID_OPTION', `${place}: ${problem}`);
}

const IN_CONNECTION = 'it says where Redis is: set it in `connection`';

const OF_LAYOUT = 'it is an option of a layout: give it to the function that makes the layout';

/** Advice for names that are not options here. */
const SYNONYMS = new Map([
  ['name', 'it names an instance: give it to forRoot(), or to forRootAsync() beside useFactory'],
  ['codec', OF_LAYOUT],
  ['format', OF_LAYOUT],
  ['url', IN_CONNECTION],
  ['redis', IN_CONNECTION],
  ['retries', 'use attempts, which includes the first one'],
  ['maxRetries', 'use attempts, which includes the first one'],
  ['retryDelay', 'use backoff'],
  ['ttl', 'use expiresAfter'],
]);

/** Says where a misplaced option belongs; undefined if no option has that name. */
function placeOf(option: string): string | undefined {
  const elsewhere = SYNONYMS.get(option);
  if (elsewhere !== undefined) return elsewhere;
  if (option in queueLayerSchema.shape) return 'it is an option of queues: set it in `defaults`, or in `queues`';
  if (option in handlerSchema.shape) return 'it is an option of handlers: give it to @DelayedHandler()';
  if (option in moduleFrameSchema.shape) return 'it is an option of the module: give it to forRoot()';
  return Object.hasOwn(redisRules, option) ? IN_CONNECTION : undefined;
}
