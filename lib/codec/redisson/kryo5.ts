import { configured } from './configured-codec.js';
import { type Kryo5CodecOptions, kryo5CodecWith } from './kryo/kryo5.codec.js';
import type { PayloadCodec } from './payload-codec.js';

export type { Kryo5CodecOptions } from './kryo/kryo5.codec.js';

/**
 * Redisson's `Kryo5Codec`, its default codec since 3.19. The bytes contain neither the names nor the types of fields, so the
 * classes of an application must be declared; `docs/redisson-codecs.md` tells how Java's values look.
 *
 * @example
 * ```ts
 * const codec = kryo5({ classes: { 'com.shop.Order': { id: 'String', amount: 'Long' } } });
 * DelayQueueModule.forRoot({ queues: { orders: { layout: 'redisson', codec } } });
 * ```
 *
 * @throws DelayQueueError `INVALID_OPTION` for a class or a field that cannot be, or that Kryo would write in a way that the
 *   declaration does not tell
 */
export function kryo5(options: Kryo5CodecOptions = {}): PayloadCodec {
  return configured('kryo5', kryo5CodecWith(options));
}
