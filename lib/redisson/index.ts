import 'reflect-metadata';
import { DelayQueueError } from '../message/delay-queue-errors.js';

const MOVED =
  "The layout redisson() is a package of its own: npm install nestjs-delay-queue-redisson, and import from 'nestjs-delay-queue-redisson'";

/** Makes compiler errors say what to do wherever a name from this entry point is used. */
export type Moved = typeof MOVED;

/** A former export. It can be neither called nor constructed. */
export interface Gone {
  (this: Moved, ...args: unknown[]): never;
  new (moved: Moved): never;
}

/** @deprecated Install `nestjs-delay-queue-redisson`, and import it from there. */
const gone: Gone = moved();

/** Makes importing this entry point fail with the name of the package that replaces it. */
function moved(): never {
  throw new DelayQueueError('INVALID_OPTION', `nestjs-delay-queue/redisson: ${MOVED}`);
}

export {
  gone as jackson,
  gone as JavaValue,
  gone as json,
  gone as JsonNumber,
  gone as kryo5,
  gone as redisson,
  gone as redissonQueue,
};
export type {
  Moved as CodecName,
  Moved as EntryFormat,
  Moved as JacksonCodecOptions,
  Moved as JavaClasses,
  Moved as JavaFields,
  Moved as JsonCodecOptions,
  Moved as Kryo5CodecOptions,
  Moved as PayloadCodec,
  Moved as RedissonOptions,
  Moved as RedissonQueue,
};
