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
import { checkRedis } from './redis-check.js';
import { RedisConnections } from './redis/redis-connections.js';

/** Where the stores of all queues come from. */
export interface Stores {
  /** Opens connections in the background; nothing is awaited. */
  connect(): void;
  /**
   * Checks the server, and that its user may do all that some queues need; again after each outage, when what is wrong is
   * logged.
   *
   * @throws DelayQueueError `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; others if it could not be checked
   */
  check(queues: readonly string[]): Promise<void>;
  open(queue: string, options: ResolvedQueueOptions): MessageStore;
  /** The application is stopping: from now on no call waits for Redis to come back. */
  hurry(): void;
  close(): Promise<void>;
}

export function createStores(options: ResolvedModuleOptions, clock: Clock): Stores {
  return options.store === 'memory' ? memoryStores(clock) : redisStores(options, clock);
}

function redisStores(options: ResolvedModuleOptions, clock: Clock): Stores {
  const { connection, prefix, offerTimeout, defaults, allowEviction } = options;
  const logger = new Logger('DelayQueueRedis');
  const connections = new RedisConnections({
    connection,
    clock,
    logger,
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
  });
  return {
    connect: () => connections.commands.connect(),
    check: (queues) => checkRedis({ connections, prefix, queues, allowEviction, logger }),
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
    check: () => Promise.resolve(),
    hurry: () => undefined,
    close: () => Promise.resolve(),
  };
}
