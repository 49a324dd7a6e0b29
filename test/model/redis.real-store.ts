import { Redis } from 'ioredis';
import { systemClock } from '../../lib/timing/clock.js';
import type { MessageStore, StoreLimits } from '../../lib/store/message-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { DueTimeListener } from './due-listener.js';
import type { QueueModel } from './queue-model.js';
import type { JavaClient, RealQueue, RealStore } from './real-queue.js';

export interface RedisQueueOptions {
  readonly prefix: string;
  readonly queue: string;
  readonly limits: StoreLimits;
}

/** How to open a layout and to check its keys. */
export interface RedisLayout extends Pick<RealStore, 'ownCommands' | 'openModel'> {
  openStore(connections: RedisConnections, options: RedisQueueOptions): MessageStore;
  /** The key of the wake-up signal, and all keys. */
  keysOf(options: RedisQueueOptions): { readonly wake: string; readonly all: readonly string[] };
  checkInside(redis: Redis, options: RedisQueueOptions, model: QueueModel): Promise<void>;
  openJava?(redis: Redis, options: RedisQueueOptions): JavaClient;
}

/** They end at once, or not at all. */
export const REDIS_DELAYS: readonly number[] = [0, 3_600_000];

/** A layout on the shared Redis, whose clock cannot be moved. */
export class RedisRealStore implements RealStore {
  readonly delays = REDIS_DELAYS;
  readonly canAdvance = false;
  readonly ownCommands: RealStore['ownCommands'];
  readonly openModel: RealStore['openModel'];
  readonly #redis = new Redis(sharedRedisUrl());
  readonly #processes = [connections(), connections()] as const;

  constructor(private readonly layout: RedisLayout) {
    this.ownCommands = layout.ownCommands;
    this.openModel = layout.openModel?.bind(layout);
  }

  openQueue(limits: StoreLimits): RealQueue {
    return new RedisRealQueue(this.#redis, this.#processes, this.layout, limits);
  }

  async close(): Promise<void> {
    await Promise.all([this.#redis.quit(), ...this.#processes.map((process) => process.close())]);
  }
}

class RedisRealQueue implements RealQueue {
  readonly views: RealQueue['views'];
  readonly listener: DueTimeListener;
  readonly java: JavaClient | undefined;
  readonly #options: RedisQueueOptions;
  #lastSeen = 0;

  constructor(
    private readonly redis: Redis,
    [here, there]: readonly [RedisConnections, RedisConnections],
    private readonly layout: RedisLayout,
    limits: StoreLimits,
  ) {
    this.#options = { prefix: 'model', queue: randomName('queue'), limits };
    this.views = [layout.openStore(here, this.#options), layout.openStore(there, this.#options)];
    this.listener = new DueTimeListener(this.views[1]);
    this.java = layout.openJava?.(redis, this.#options);
  }

  async now(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    this.#lastSeen = Number(seconds) * 1000 + Number(micros) / 1000;
    return this.#lastSeen;
  }

  /** Gives each step its own milliseconds. */
  async beginStep(): Promise<void> {
    const end = Math.floor(this.#lastSeen) + 1;
    while ((await this.now()) < end);
  }

  async takeWakeSignal(): Promise<void> {
    await this.redis.lpop(this.layout.keysOf(this.#options).wake);
  }

  checkInside(model: QueueModel): Promise<void> {
    return this.layout.checkInside(this.redis, this.#options, model);
  }

  async close(): Promise<void> {
    this.listener.stop();
    await this.redis.unlink([...this.layout.keysOf(this.#options).all]);
  }
}

function connections(): RedisConnections {
  return new RedisConnections({
    connection: sharedRedisUrl(),
    clock: systemClock,
    events: new LoggedEvents(),
    commandTimeout: 5000,
    heartbeat: 5000,
  });
}
