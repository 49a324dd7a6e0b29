import { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import type { ConnectionOptions } from '../delay-queue.options.js';
import {
  type ResolvedModuleOptions,
  type ResolvedQueueOptions,
  resolveQueueOptions,
} from '../delay-queue.options.schema.js';
import { SafeLogger } from '../safe-logger.js';
import { MemoryMessageStore } from './memory/memory.store.js';
import type { MessageStore } from './message-store.js';
import { nativeKeys } from './native/native.keys.js';
import { nativePermissions } from './native/native.permissions.js';
import { NativeMessageStore } from './native/native.store.js';
import { RedisCheck } from './redis-check.js';
import { redissonKeys } from './redisson/redisson.keys.js';
import { redissonPermissions } from './redisson/redisson.permissions.js';
import { RedissonMessageStore } from './redisson/redisson.store.js';
import { neededCommands } from './redis/permissions.js';
import { examineConnection } from './redis/redis-client.js';
import { RedisConnections } from './redis/redis-connections.js';

/** A queue that must work. */
export interface CheckedQueue {
  readonly name: string;
  readonly options: ResolvedQueueOptions;
}

/** Where the stores of all queues come from. */
export interface Stores {
  /** Opens connections in the background; nothing is awaited. */
  connect(): void;
  /**
   * Checks the server, and that its user may do all that some queues need; again after each outage, when what is wrong is
   * logged.
   *
   * @throws DelayQueueError `LOGIN_REFUSED`, `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; others if it could not be checked
   */
  check(queues: readonly CheckedQueue[]): Promise<void>;
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
  const logger = new SafeLogger('DelayQueueRedis');
  const connections = new RedisConnections({
    connection,
    clock,
    logger,
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
  });
  const open = (queue: string, options: ResolvedQueueOptions): MessageStore => {
    const { layout, format, redissonName, blockTimeout } = options;
    if (layout === 'native')
      return new NativeMessageStore(connections, { keys: nativeKeys(prefix, queue), limits: options });
    const name = { prefix, queue, redissonName };
    return new RedissonMessageStore(connections, { ...name, limits: options, clock, logger, format, blockTimeout });
  };
  const neededBy = ({ name, options: { layout, redissonName } }: CheckedQueue) =>
    layout === 'native'
      ? neededCommands(nativePermissions, nativeKeys(prefix, name))
      : neededCommands(redissonPermissions, redissonKeys({ prefix, queue: name, redissonName }));
  return {
    connect: () => {
      warnOfOverridden(connection, logger);
      connections.commands.connect();
    },
    check: (checked) => {
      const queues = checked.map((queue) => ({ name: queue.name, needed: neededBy(queue) }));
      return new RedisCheck({ commands: connections.commands, queues, allowEviction, logger }).start();
    },
    open,
    hurry: () => connections.commands.hurry(),
    close: () => connections.close(),
  };
}

function warnOfOverridden(connection: ConnectionOptions, logger: Logger): void {
  const { overridden } = examineConnection(connection);
  if (overridden.length === 0) return;
  const each = overridden.map(({ name, because }) => `${name} (${because})`);
  logger.warn(`Options of the connection that the module sets itself, so that yours do not hold: ${each.join('; ')}`);
}

function memoryStores(clock: Clock): Stores {
  // They are where the messages are, so each is kept.
  const stores = new Map<string, MemoryMessageStore>();
  return {
    connect: () =>
      new Logger('DelayQueue').warn(
        "store: 'memory' - messages live in this process alone and DIE WITH IT; use Redis for real work",
      ),
    open: (queue, options) => {
      const store = stores.get(queue) ?? new MemoryMessageStore({ limits: options, clock });
      // It may have been used before the options of its handler were known.
      store.limit(options);
      stores.set(queue, store);
      return store;
    },
    check: () => Promise.resolve(),
    hurry: () => undefined,
    close: () => Promise.resolve(),
  };
}
