import { Redis } from 'ioredis';
import { systemClock } from '../../lib/clock.js';
import type { StoreLimits } from '../../lib/store/message-store.js';
import { type NativeKeys, nativeKeys } from '../../lib/store/native/native.keys.js';
import { NativeMessageStore } from '../../lib/store/native/native.store.js';
import { RedisConnections } from '../../lib/store/redis/redis-connections.js';
import { QuietLogger } from '../support/quiet-logger.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { DueEar } from './due-ear.js';
import { expectNativeKeys } from './native-keys.invariant.js';
import type { QueueModel } from './queue-model.js';
import type { RealQueue, RealStore } from './real-queue.js';

const PREFIX = 'model';

/** The native layout on the shared Redis, whose clock nobody can move. */
export class NativeRealStore implements RealStore {
  readonly delays = [0, 3_600_000];
  readonly canAdvance = false;
  readonly #redis = new Redis(sharedRedisUrl());
  readonly #processes = [connections(), connections()] as const;

  openQueue(limits: StoreLimits): RealQueue {
    return new NativeRealQueue(this.#redis, this.#processes, limits);
  }

  async close(): Promise<void> {
    await Promise.all([this.#redis.quit(), ...this.#processes.map((process) => process.close())]);
  }
}

class NativeRealQueue implements RealQueue {
  readonly views: RealQueue['views'];
  readonly ear: DueEar;
  readonly #keys: NativeKeys;
  #lastSeen = 0;

  constructor(
    private readonly redis: Redis,
    [here, there]: readonly [RedisConnections, RedisConnections],
    limits: StoreLimits,
  ) {
    const options = { prefix: PREFIX, queue: randomName('queue'), limits };
    this.views = [new NativeMessageStore(here, options), new NativeMessageStore(there, options)];
    this.ear = new DueEar(this.views[1]);
    this.#keys = nativeKeys(PREFIX, options.queue);
  }

  async now(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    this.#lastSeen = Number(seconds) * 1000 + Number(micros) / 1000;
    return this.#lastSeen;
  }

  /** Each step has milliseconds of its own. */
  async beginStep(): Promise<void> {
    const end = Math.floor(this.#lastSeen) + 1;
    while ((await this.now()) < end);
  }

  async takeToken(): Promise<void> {
    await this.redis.lpop(this.#keys.wake);
  }

  checkInside(model: QueueModel): Promise<void> {
    return expectNativeKeys(this.redis, this.#keys, model);
  }

  async close(): Promise<void> {
    this.ear.stop();
    await this.redis.unlink(Object.values(this.#keys) as string[]);
  }
}

function connections(): RedisConnections {
  return new RedisConnections({
    connection: sharedRedisUrl(),
    clock: systemClock,
    logger: new QuietLogger(),
    commandTimeout: 5000,
    heartbeat: 5000,
  });
}
