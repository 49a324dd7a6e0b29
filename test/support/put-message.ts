import type { Redis } from 'ioredis';
import type { NativeKeys } from '../../lib/store/native/native-keys.js';

/** A message as somebody else may have written it. */
export interface PutMessage {
  readonly id: string;
  readonly body: string | Buffer;
  /** Default: at once. */
  readonly dueAt?: number;
}

/** Writes a delayed message into the keys of a queue, as no offer does. */
export async function putMessage(redis: Redis, keys: NativeKeys, message: PutMessage): Promise<void> {
  const { id, body, dueAt = Date.now() } = message;
  const times = Buffer.alloc(12);
  times.writeUIntBE(dueAt, 0, 6);
  times.writeUIntBE(Date.now(), 6, 6);
  await redis
    .multi()
    .hset(keys.messages, id, Buffer.concat([times, Buffer.from(body)]))
    .zadd(keys.delayed, dueAt, id)
    .exec();
}
