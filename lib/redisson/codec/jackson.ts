import { configured } from './configured-codec.js';
import { type JacksonCodecOptions, jacksonCodecWith } from './jackson/jackson.codec.js';
import type { PayloadCodec } from './payload-codec.js';

export type { JacksonCodecOptions } from './jackson/jackson.codec.js';

/**
 * Makes a configured codec `'jackson'`, for `JsonJacksonCodec` or, with `jackson: 3`, `JsonJackson3Codec`.
 *
 * @throws DelayQueueError `INVALID_OPTION`
 * @example
 * ```ts
 * const codec = jackson({ classes: { 'com.shop.OrderTimeout': { orderId: 'String', amount: 'Long' } } });
 * DelayQueueModule.forRoot({ queues: { orders: { layout: 'redisson', codec } } });
 * ```
 */
export function jackson(options: JacksonCodecOptions = {}): PayloadCodec {
  return configured('jackson', jacksonCodecWith(options));
}
