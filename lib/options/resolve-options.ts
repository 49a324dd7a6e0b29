import { check } from './check.js';
import type { DelayQueueModuleOptions } from './module-options.js';
import { moduleSchema, type ResolvedModuleOptions } from './module-options.schema.js';
import type { QueueOptions } from './queue-options.js';
import { queueLayerSchema, queueSchema, type ResolvedQueueOptions } from './queue-options.schema.js';

/**
 * Checks the module's options and fills in the defaults.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function resolveModuleOptions(options: DelayQueueModuleOptions): ResolvedModuleOptions {
  const parsed = check(moduleSchema, options, 'DelayQueueModule options');
  return {
    ...parsed,
    connection: options.connection ?? parsed.connection,
    defaults: options.defaults ?? {},
    queues: options.queues ?? {},
  };
}

/**
 * Merges a queue's options over the defaults; later layers override earlier ones.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function resolveQueueOptions(...layers: readonly QueueOptions[]): ResolvedQueueOptions {
  return merge(layers, 'queue options');
}

/** Like {@link resolveQueueOptions}, for a queue that the error can name. */
export function resolveOptionsOf(queue: string, ...layers: readonly QueueOptions[]): ResolvedQueueOptions {
  return merge(layers, `options of queue '${queue}'`);
}

function merge(layers: readonly QueueOptions[], place: string): ResolvedQueueOptions {
  return check(queueSchema, Object.assign({}, ...layers.map(withoutUndefined)) as QueueOptions, place);
}

/**
 * Checks the options of a decorator separately, so that the error can name the place.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function validateQueueOptions(options: unknown, place: string): void {
  check(queueLayerSchema, options as QueueOptions, place);
}

function withoutUndefined(options: QueueOptions): QueueOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
