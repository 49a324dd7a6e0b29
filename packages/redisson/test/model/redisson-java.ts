import type { Redis } from 'ioredis';
import type { RedissonKeys } from '../../src/redisson-keys.js';
import { encodeEntry } from '../java/entry.codec.js';
import type { JavaClient } from '../../../../test/model/real-queue.js';

/** Redisson's script for each batch, except that it uses the server's clock. */
const TRANSFER = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local entries = redis.call('ZRANGEBYSCORE', KEYS[1], 0, now, 'LIMIT', 0, 100)
  for _, entry in ipairs(entries) do
    local _, value = struct.unpack('Bc0Lc0', entry)
    redis.call('RPUSH', KEYS[3], value)
    redis.call('LREM', KEYS[2], 1, entry)
  end
  if #entries > 0 then
    redis.call('ZREM', KEYS[1], unpack(entries))
  end
  return now`;

const REMOVE = `
  for _, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    local _, value = struct.unpack('Bc0Lc0', entry)
    if value == ARGV[1] then
      redis.call('ZREM', KEYS[1], entry)
      redis.call('LREM', KEYS[2], 1, entry)
      return 1
    end
  end
  return 0`;

/** Acts on the keys like a Redisson client. */
export class RedissonJava implements JavaClient {
  constructor(
    private readonly redis: Redis,
    private readonly keys: RedissonKeys,
  ) {}

  async offer(value: string, due: number, number: number): Promise<void> {
    const id = Buffer.alloc(8, 0xff);
    id.writeUInt32BE(number, 4);
    const entry = encodeEntry({ format: 'Bc0Lc0', id, value: Buffer.from(value) });
    const { timeouts, entries, channel } = this.keys;
    await this.redis.multi().zadd(timeouts, due, entry).rpush(entries, entry).publish(channel, String(due)).exec();
  }

  async transfer(): Promise<number> {
    const { timeouts, entries, target } = this.keys;
    return (await this.redis.eval(TRANSFER, 3, timeouts, entries, target)) as number;
  }

  take(): Promise<string | null> {
    return this.redis.lpop(this.keys.target);
  }

  async remove(value: string): Promise<boolean> {
    const { timeouts, entries } = this.keys;
    return (await this.redis.eval(REMOVE, 2, timeouts, entries, value)) === 1;
  }
}
