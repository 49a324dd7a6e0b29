export { redisson } from './redisson.js';
export type { RedissonOptions } from './redisson-options.js';
export { redissonQueue } from './store-redisson-queue.js';
export type { RedissonQueue } from './redisson-queue.js';
export type { EntryFormat } from './entry-format.js';
export { json, type JsonCodecOptions } from './codec/json-codec.js';
export { JsonNumber } from './codec/json-number.js';
export { jackson, type JacksonCodecOptions } from './codec/jackson/jackson-codec.js';
export { kryo5, type Kryo5CodecOptions } from './codec/kryo/kryo5-codec.js';
export type { CodecName, PayloadCodec } from './codec/payload-codec.js';
export type { JavaClasses, JavaFields } from './codec/java/java-classes.js';
export { JavaValue } from './codec/java/java-value.js';

// Types of the main entry that the exports above use.
export type { QueueLayout } from 'nestjs-delay-queue';
