import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import { type ResolvedModuleOptions } from '../options/module-options.schema.js';
import { type ResolvedQueueOptions } from '../options/queue-options.schema.js';
import { resolveQueueOptions } from '../options/resolve-options.js';
import { MemoryMessageStore } from '../store/memory/memory.store.js';
import type { MessageStore } from '../store/message-store.js';
import { nativeKeys } from '../store/native/native.keys.js';
import { nativePermissions } from '../store/native/native.permissions.js';
import { NativeMessageStore } from '../store/native/native.store.js';
import { RedisCheck } from '../store/redis/redis-check.js';
import { redissonKeys } from '../store/redisson/redisson.keys.js';
import { redissonPermissions } from '../store/redisson/redisson.permissions.js';
import { RedissonMessageStore } from '../store/redisson/redisson.store.js';
import { neededCommands } from '../store/redis/permissions.js';
import { examineConnection } from '../store/redis/redis-client.js';
import { RedisConnections } from '../store/redis/redis-connections.js';

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
   * told.
   *
   * @throws DelayQueueError `LOGIN_REFUSED`, `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; others if it could not be checked
   */
  check(queues: readonly CheckedQueue[]): Promise<void>;
  open(queue: string, options: ResolvedQueueOptions): MessageStore;
  /** The application is stopping: from now on no call waits for Redis to come back. */
  hurry(): void;
  close(): Promise<void>;
}

/** What a process has one of. */
export interface ProcessParts {
  readonly clock: Clock;
  readonly events: Events;
}

export function createStores(options: ResolvedModuleOptions, parts: ProcessParts): Stores {
  return options.store === 'memory' ? memoryStores(parts) : redisStores(options, parts);
}

function redisStores(options: ResolvedModuleOptions, { clock, events }: ProcessParts): Stores {
  const { connection, prefix, offerTimeout, defaults, allowEviction } = options;
  const connections = new RedisConnections({
    connection,
    clock,
    events,
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
  });
  const open = (queue: string, options: ResolvedQueueOptions): MessageStore => {
    const { layout, format, redissonName, blockTimeout } = options;
    if (layout === 'native')
      return new NativeMessageStore(connections, { keys: nativeKeys(prefix, queue), limits: options });
    const name = { prefix, queue, redissonName };
    return new RedissonMessageStore(connections, { ...name, limits: options, clock, events, format, blockTimeout });
  };
  const neededBy = ({ name, options: { layout, redissonName } }: CheckedQueue) =>
    layout === 'native'
      ? neededCommands(nativePermissions, nativeKeys(prefix, name))
      : neededCommands(redissonPermissions, redissonKeys({ prefix, queue: name, redissonName }));
  return {
    connect: () => {
      const { overridden } = examineConnection(connection);
      if (overridden.length > 0) events.emit('optionsOverridden', { options: overridden });
      connections.commands.connect();
    },
    check: (checked) => {
      const queues = checked.map((queue) => ({ name: queue.name, needed: neededBy(queue) }));
      return new RedisCheck({ commands: connections.commands, queues, allowEviction, events }).start();
    },
    open,
    hurry: () => connections.commands.hurry(),
    close: () => connections.close(),
  };
}

function memoryStores({ clock, events }: ProcessParts): Stores {
  // They are where the messages are, so each is kept.
  const stores = new Map<string, MemoryMessageStore>();
  return {
    connect: () => events.emit('memoryStore', {}),
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
