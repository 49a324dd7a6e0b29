import { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import type { ConnectionOptions } from '../delay-queue.options.js';
import {
  type ResolvedModuleOptions,
  type ResolvedQueueOptions,
  resolveQueueOptions,
} from '../delay-queue.options.schema.js';
import { jsonCodec } from './json.codec.js';
import { MemoryMessageStore } from './memory/memory.store.js';
import type { MessageStore, StoreLimits } from './message-store.js';
import { nativeKeys } from './native/native.keys.js';
import { NativeMessageStore } from './native/native.store.js';
import { checkRedis } from './redis-check.js';
import { redissonCodec } from './redisson/redisson.codec.js';
import { RedissonMessageStore } from './redisson/redisson.store.js';
import { examineConnection } from './redis/redis-client.js';
import { RedisConnections } from './redis/redis-connections.js';
import { REHEARSAL_LIMITS, REHEARSAL_SCOPE } from './rehearsal.js';

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
   * @throws DelayQueueError `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; others if it could not be checked
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
  const logger = new Logger('DelayQueueRedis');
  const connections = new RedisConnections({
    connection,
    clock,
    logger,
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
  });
  const open = (
    queue: string,
    options: ResolvedQueueOptions,
    limits: StoreLimits = options,
    scope = '',
  ): MessageStore => {
    const { layout, codec, format, redissonName, blockTimeout } = options;
    if (layout === 'native') {
      return new NativeMessageStore(connections, { keys: nativeKeys(prefix, queue, scope), limits });
    }
    const name = { prefix, queue, redissonName, scope };
    const own = { codec: redissonCodec(codec), format, blockTimeout };
    return new RedissonMessageStore(connections, { ...name, limits, clock, logger, ...own });
  };
  const rehearsalOf = ({ name, options }: CheckedQueue) => ({
    queue: name,
    store: open(name, options, REHEARSAL_LIMITS, REHEARSAL_SCOPE),
  });
  return {
    connect: () => {
      warnOfOverridden(connection, logger);
      connections.commands.connect();
    },
    check: (queues) => checkRedis({ connections, rehearsals: queues.map(rehearsalOf), allowEviction, logger }),
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
  return {
    connect: () =>
      new Logger('DelayQueue').warn(
        "store: 'memory' - messages live in this process alone and DIE WITH IT; use Redis for real work",
      ),
    open: (_queue, options) => {
      const codec = options.layout === 'redisson' ? redissonCodec(options.codec) : jsonCodec;
      return new MemoryMessageStore({ limits: options, clock, codec });
    },
    check: () => Promise.resolve(),
    hurry: () => undefined,
    close: () => Promise.resolve(),
  };
}
