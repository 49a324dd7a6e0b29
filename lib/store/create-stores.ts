import { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import {
  type ResolvedModuleOptions,
  type ResolvedQueueOptions,
  resolveQueueOptions,
} from '../delay-queue.options.schema.js';
import { MemoryMessageStore } from './memory/memory.store.js';
import type { MessageStore } from './message-store.js';
import { NativeMessageStore } from './native/native.store.js';
import { RedisConnections } from './redis/redis-connections.js';

/** Where the stores of all queues come from. */
export interface Stores {
  /** Opens connections in the background; nothing is awaited. */
  connect(): void;
  open(queue: string, options: ResolvedQueueOptions): MessageStore;
  /** The application is stopping: from now on no call waits for Redis to come back. */
  hurry(): void;
  close(): Promise<void>;
}

export function createStores(options: ResolvedModuleOptions, clock: Clock): Stores {
  return options.store === 'memory' ? memoryStores(clock) : redisStores(options, clock);
}

function redisStores(options: ResolvedModuleOptions, clock: Clock): Stores {
  const { connection, prefix, offerTimeout, defaults } = options;
  const connections = new RedisConnections({
    connection,
    clock,
    logger: new Logger('DelayQueueRedis'),
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
  });
  return {
    connect: () => connections.commands.connect(),
    open: (queue, limits) => new NativeMessageStore(connections, { prefix, queue, limits }),
    hurry: () => connections.commands.hurry(),
    close: () => connections.close(),
  };
}

function memoryStores(clock: Clock): Stores {
  return {
    connect: () =>
      new Logger('DelayQueue').warn(
        "store: 'memory' - messages live in this process alone and DIE WITH IT; use Redis for real work",
      ),
    open: (_queue, limits) => new MemoryMessageStore({ limits, clock }),
    hurry: () => undefined,
    close: () => Promise.resolve(),
  };
}
