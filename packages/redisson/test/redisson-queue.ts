import { afterEach } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { systemClock } from '../../../lib/timing/clock.js';
import type { EntryFormat } from '../src/entry-format.js';
import type { Rate, StoreLimits } from '../../../lib/store/message-store.js';
import { RedisConnections } from '../../../lib/redis/redis-connections.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { RedissonMessageStore } from '../src/redisson-store.js';
import { encodeEntry } from './java/entry.codec.js';
import { LoggedEvents } from '../../../test/support/logged-events.js';
import { randomName } from '../../../test/support/random-name.js';
import { sharedRedisUrl } from '../../../test/support/redis/shared-redis.js';

const LIMITS: StoreLimits = { attempts: 3, maxDeadLetters: 100, maxMessages: null };

export interface RedissonTestQueueOptions {
  readonly format?: EntryFormat;
  /** Default: the server that all tests share. */
  readonly url?: string;
  /** The Redis user of the store. */
  readonly user?: string;
  readonly rate?: Rate;
}

/** A queue in Redisson's layout, used by our store and by the commands that a Java client sends. */
export class RedissonTestQueue {
  readonly redis: Redis;
  readonly name = randomName('layout');
  readonly keys = redissonKeys({ prefix: 'layout', queue: this.name });
  readonly store: RedissonMessageStore;
  readonly #connections: RedisConnections;

  constructor({ format = 'Bc0Lc0', url = sharedRedisUrl(), user, rate }: RedissonTestQueueOptions = {}) {
    const events = new LoggedEvents();
    const connection = user ? url.replace('redis://', `redis://${user}:any@`) : url;
    this.redis = new Redis(url);
    const common = { clock: systemClock, events };
    this.#connections = new RedisConnections({ connection, ...common, commandTimeout: 5000, heartbeat: 5000 });
    this.store = new RedissonMessageStore(this.#connections, {
      ...common,
      prefix: 'layout',
      queue: this.name,
      limits: { ...LIMITS, rate: rate ?? null },
      format,
      blockTimeout: 5000,
    });
  }

  /** Offers as this package does; the values are text. */
  async offer(offers: Readonly<Record<string, { readonly at: number; readonly value: string }>>): Promise<void> {
    await this.store.offer(
      Object.entries(offers).map(([id, { at, value }]) => ({ id, due: { at }, onDuplicate: 'reject', body: value })),
    );
  }

  /** Offers as a Java client does: an entry with a random id. */
  async offerAsJava(value: string, at: number): Promise<Buffer> {
    const entry = encodeEntry({ format: 'Bc0Lc0', id: randomBytes(8), value: Buffer.from(value) });
    await this.redis.multi().zadd(this.keys.timeouts, at, entry).rpush(this.keys.entries, entry).exec();
    return entry;
  }

  /** Takes the next due value as a Java consumer does. */
  takeAsJava(): Promise<string | null> {
    return this.redis.lpop(this.keys.target);
  }

  /** The values in the list of entries, which must be the same as in the sorted set. */
  async listed(): Promise<string[]> {
    const values = (await this.store.delayedValues.list()).map(String);
    const [entries, members] = await Promise.all([
      this.redis.lrangeBuffer(this.keys.entries, 0, -1),
      this.redis.zrangeBuffer(this.keys.timeouts, 0, '-1'),
    ]);
    const hex = (buffers: Buffer[]) => buffers.map((buffer) => buffer.toString('hex')).sort();
    if (hex(entries).join() !== hex(members).join()) throw new Error('The list and the sorted set differ.');
    return values;
  }

  transfer(limit = 1000) {
    return this.store.transfer({ limit });
  }

  async claim(limit = 1000): Promise<string[]> {
    const { messages } = await this.store.claim({ token: randomName('token'), limit, lease: 60_000 });
    return messages.map(({ id, body }) => `${id}=${body.toString()}`);
  }

  async close(): Promise<void> {
    await this.redis.unlink('none', ...(await this.redis.keys(`*${this.name}*`)));
    await Promise.all([this.redis.quit(), this.#connections.close()]);
  }
}

/** Opens queues for the tests of one suite and closes them after each. */
export function redissonQueues(): (options?: RedissonTestQueueOptions) => RedissonTestQueue {
  const open: RedissonTestQueue[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((queue) => queue.close()));
  });
  return (options) => {
    const queue = new RedissonTestQueue(options);
    open.push(queue);
    return queue;
  };
}
