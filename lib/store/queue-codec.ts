import type { ResolvedQueueOptions } from '../delay-queue.options.schema.js';
import { jsonCodec } from './json.codec.js';
import type { MessageCodec } from './message-store.js';
import { redissonCodec } from './redisson/redisson.codec.js';

/** How a queue writes what its messages say. */
export function codecOf({ layout, codec }: Pick<ResolvedQueueOptions, 'layout' | 'codec'>): MessageCodec {
  return layout === 'redisson' ? redissonCodec(codec) : jsonCodec;
}
