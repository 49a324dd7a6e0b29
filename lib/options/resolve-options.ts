import { check } from './check.js';
import type { DelayQueueModuleOptions } from './module-options.js';
import { moduleSchema, type ResolvedModuleOptions } from './module-options.schema.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { HandlerOptions, QueueOptions } from './queue-options.js';
import { handlerSchema, queueLayerSchema, queueSchema, type ResolvedQueueOptions } from './queue-options.schema.js';

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

/**
 * Checks the options of a handler of one type on their own.
 *
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong, and where an option of the queue belongs
 */
export function validateHandlerOptions(options: unknown, place: string): void {
  const names = typeof options === 'object' && options !== null ? Object.keys(options) : [];
  const misplaced = names.filter((name) => name in queueLayerSchema.shape && !(name in handlerSchema.shape));
  if (misplaced.length > 0) {
    throw new DelayQueueError(
      'INVALID_OPTION',
      `${place}: ${misplaced.join(', ')}: options of the queue, which all its types share; set them in \`queues\` of ` +
        'DelayQueueModule.forRoot(), or on the handler without a type',
    );
  }
  check(handlerSchema, options as HandlerOptions, place);
}

function withoutUndefined(options: QueueOptions): QueueOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
