import type { QueueLayout } from 'nestjs-delay-queue';
import { type RedissonOptions, resolveRedissonOptions } from './redisson-options.js';
import { RedissonLayout } from './redisson-layout.js';

/**
 * Makes the layout of a queue that is shared with Java. It matches Redisson's `RDelayedQueue` byte for byte.
 *
 * Messages have neither types nor headers, and the queue has neither partitions nor families.
 * @param options - `codec`, `format`, `name`
 * @returns for the option `layout` of a queue
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ queues: { orders: { layout: redisson({ codec: 'string', name: '{shop}:orders' }) } } });
 * ```
 */
export function redisson(options: RedissonOptions = {}): QueueLayout {
  return new RedissonLayout(resolveRedissonOptions(options));
}
