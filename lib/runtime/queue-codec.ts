import type { ResolvedQueueOptions } from '../options/queue-options.schema.js';
import { nativeCodec } from '../codec/native.codec.js';
import type { MessageCodec } from '../codec/message-codec.js';
import { redissonCodec } from '../redisson/codec/redisson.codec.js';

/** The codec for the payloads and headers of a queue. */
export function codecOf({ layout, codec }: Pick<ResolvedQueueOptions, 'layout' | 'codec'>): MessageCodec {
  return layout === 'redisson' ? redissonCodec(codec) : nativeCodec;
}
