import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import { type ResolvedModuleOptions } from '../options/module-options.schema.js';
import { type ResolvedQueueOptions } from '../options/queue-options.schema.js';
import { resolveQueueOptions } from '../options/resolve-options.js';
import { MemoryMessageStore } from '../store/memory/memory.store.js';
import { MemoryQueueDirectory } from '../store/memory/memory.directory.js';
import { MemoryPartitions } from '../store/memory/memory.partitions.js';
import { neededByFamily } from '../store/native/directory.permissions.js';
import { NativeQueueDirectory } from '../store/native/native.directory.js';
import type { QueueDirectory } from '../store/queue-directory.js';
import { isFamily } from '../message/queue-family.js';
import { nativeKeys, type NativeKeys } from '../store/native/native.keys.js';
import { PartitionCheck } from '../store/native/partition-check.js';
import { neededInCluster, partitionPermissions } from '../store/native/native.permissions.js';
import { NativePartitions } from '../store/native/native.partitions.js';
import { FixedPartitions } from '../store/partitioned/fixed.partitions.js';
import type { Partitions } from '../store/partitioned/partitions.js';
import { RedisCheck } from '../store/redis/redis-check.js';
import { redissonKeys } from '../redisson/redisson.keys.js';
import { redissonPermissions } from '../redisson/redisson.permissions.js';
import { RedissonMessageStore } from '../redisson/redisson.store.js';
import { neededCommands, type Permissions } from '../store/redis/permissions.js';
import { examineConnection } from '../store/redis/redis-client.js';
import { RedisConnections } from '../store/redis/redis-connections.js';
import type { RedisServer } from '../store/redis/redis-server.js';
import { serverName } from '../store/redis/server-check.js';
import { placeOf } from '../store/redis/server-place.js';
import { limitsOfPartition } from './partition-limits.js';

/** A queue, or a family of queues, that this process must be able to serve. */
export interface CheckedQueue {
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  /** Undefined for a family: its queues are opened when they are used. */
  readonly partitions?: Partitions;
}

/** Creates the stores of all queues, and owns their connections. */
export interface Stores {
  /** Opens connections in the background; nothing is awaited. */
  connect(): void;
  /**
   * Checks the server and that its user may run every command that the queues need, and agrees with the other processes on the
   * partitions of the queues. Checks again after each outage; problems found then are only logged.
   *
   * @throws DelayQueueError `LOGIN_REFUSED`, `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`, `INVALID_OPTION`; other codes if the
   *   check could not run
   */
  check(queues: readonly CheckedQueue[]): Promise<void>;
  /** Whether there is a connection to the server, or to any server of a cluster. */
  readonly isConnected: boolean;
  /** Opens a queue. */
  open(queue: string, options: ResolvedQueueOptions): Partitions;
  /** Which queues there are. */
  readonly directory: QueueDirectory;
  /** Called when the application stops: from now on no call waits for Redis to come back. */
  hurry(): void;
  close(): Promise<void>;
}

/** What all stores of a process share. */
export interface ProcessParts {
  readonly clock: Clock;
  readonly events: Events;
}

export function createStores(options: ResolvedModuleOptions, parts: ProcessParts): Stores {
  return options.store === 'memory' ? memoryStores(parts) : redisStores(options, parts);
}

function redisStores(options: ResolvedModuleOptions, { clock, events }: ProcessParts): Stores {
  const { connection, prefix, offerTimeout, defaults, allowEviction, hasDefaultConnection: isDefault } = options;
  const connections = new RedisConnections({
    connection,
    clock,
    events,
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
  });
  const open = (queue: string, options: ResolvedQueueOptions): Partitions => {
    const { layout, format, redissonName, blockTimeout, partitions: configured } = options;
    const limitsOf = (count: number) => limitsOfPartition(options, count);
    if (layout === 'native') {
      return new NativePartitions(connections, { prefix, queue, configured, limitsOf, clock, events });
    }
    const name = { prefix, queue, redissonName };
    const own = { ...name, limits: limitsOf(1), clock, events, format, blockTimeout };
    const store = new RedissonMessageStore(connections, own);
    return new FixedPartitions([store], () => store.checkFormat());
  };
  const neededOn = <Keys extends NativeKeys>(permissions: Permissions<Keys>, keys: Keys) => [
    ...neededCommands(permissions, keys),
    ...(connections.isCluster ? neededInCluster(keys) : []),
  ];
  const neededBy = ({ name, options: { layout, redissonName, partitions } }: CheckedQueue) => {
    if (layout === 'redisson')
      return neededOn(redissonPermissions, redissonKeys({ prefix, queue: name, redissonName }));
    const ofQueue = Array.from({ length: partitions }, (_, partition) =>
      neededOn(partitionPermissions, nativeKeys(prefix, name, partition)),
    ).flat();
    return isFamily(name) ? [...ofQueue, ...neededByFamily(prefix, name)] : ofQueue;
  };
  return {
    connect: () => {
      const { overridden } = examineConnection(connection);
      if (overridden.length > 0) events.emit('options-overridden', { options: overridden });
      connections.commands.connect();
    },
    check: async (checked) => {
      const { commands } = connections;
      const queues = checked.map((queue) => ({ name: queue.name, needed: () => neededBy(queue) }));
      const ofQueues = checked.flatMap((queue) => queue.partitions ?? []);
      const partitions = new PartitionCheck(ofQueues, clock);
      const onFirst = (servers: readonly RedisServer[], info: string | undefined) => {
        const server = info === undefined ? undefined : serverName(info);
        events.emit('connected', { server, ...placeOf(servers, connections.isCluster), prefix, isDefault });
      };
      const check = new RedisCheck({ commands, queues, allowEviction, events, onFirst });
      await check.start().finally(() => partitions.catchUp(commands, events));
      await partitions.run();
    },
    get isConnected() {
      return connections.commands.isConnected;
    },
    open,
    directory: new NativeQueueDirectory(connections, prefix),
    hurry: () => connections.commands.hurry(),
    close: () => connections.close(),
  };
}

function memoryStores({ clock, events }: ProcessParts): Stores {
  const directory = new MemoryQueueDirectory();
  const partitions = new MemoryPartitions(directory, (_, limits) => new MemoryMessageStore({ limits, clock }));
  return {
    connect: () => events.emit('memory-store', {}),
    open: (queue, options) =>
      new FixedPartitions(partitions.open(queue, options.partitions, limitsOfPartition(options))),
    directory,
    check: () => Promise.resolve(),
    isConnected: true,
    hurry: () => undefined,
    close: () => Promise.resolve(),
  };
}
