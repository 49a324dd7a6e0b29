import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';

/** The shop's own connections, beside those of the delay queue. */
@Injectable()
export class RedisConnection implements OnApplicationShutdown {
  /** For commands. */
  readonly commands: Redis;
  /** For subscriptions. */
  readonly subscriber: Redis;
  readonly #logger = new Logger('ShopRedis');

  constructor(url: string) {
    this.commands = this.#connect(url);
    this.subscriber = this.#connect(url, { autoResubscribe: false });
  }

  // The very last hook: handlers and requests that are still under way need the connections until then.
  onApplicationShutdown(): void {
    this.commands.disconnect();
    this.subscriber.disconnect();
  }

  #connect(url: string, options: RedisOptions = {}): Redis {
    const redis = new Redis(url, { maxRetriesPerRequest: 3, ...options });
    redis.on('error', (error) => this.#logger.warn(error.message));
    return redis;
  }
}
