import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';

/** After which a command fails instead of hanging, ms. */
const ANSWER_TIMEOUT = 3000;

/** The shop's own connections, beside those of the delay queue. */
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

  // The very last hook: handlers and requests that are still under way need the connections until then.
  onApplicationShutdown(): void {
    this.commands.disconnect();
    this.subscriber.disconnect();
  }

  #connect(url: string, options: RedisOptions = {}): Redis {
    const redis = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: ANSWER_TIMEOUT, ...options });
    // Each attempt to reconnect fails with an error: the first one is enough.
    let isDown = false;
    redis.on('ready', () => (isDown = false));
    redis.on('error', (error) => {
      if (!isDown) this.#logger.warn(`${error.message}; it is tried until it works`);
      isDown = true;
    });
    return redis;
  }
}
