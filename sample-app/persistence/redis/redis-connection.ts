import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';

/** How long a command may take before it fails, ms. */
const ANSWER_TIMEOUT = 3000;

/** The shop's own connections, in addition to those of the delay queue. */
@Injectable()
export class RedisConnection implements OnApplicationShutdown {
  /** For commands. */
  readonly commands: Redis;
  /** For subscriptions. */
  readonly subscriber: Redis;
  readonly #logger = new Logger('ShopRedis');

  constructor(url: string) {
    this.commands = this.#connect(url, { enableAutoPipelining: true });
    this.subscriber = this.#connect(url, { autoResubscribe: false });
  }

  // The last hook, because handlers and requests under way need the connections until then.
  onApplicationShutdown(): void {
    this.commands.disconnect();
    this.subscriber.disconnect();
  }

  #connect(url: string, options: RedisOptions = {}): Redis {
    const redis = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: ANSWER_TIMEOUT, ...options });
    // Every failed attempt to reconnect is an error; the first one is enough for the log.
    let isDown = false;
    redis.on('ready', () => (isDown = false));
    redis.on('error', (error) => {
      if (!isDown) this.#logger.warn(`${error.message}; retrying until connected`);
      isDown = true;
    });
    return redis;
  }
}
