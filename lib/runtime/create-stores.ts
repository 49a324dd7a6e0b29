import { MemoryLimits } from '../limits/memory-limits.js';
import { NativeLimits } from '../limits/native-limits.js';
import type { LimitsRegistry } from '../limits/set-limits.js';
import { hasCode, showFailure } from '../message/failure.js';
import type { Events } from '../events/events.js';
import { GroupsCheck } from '../groups/groups-check.js';
import { OtherProcesses } from '../groups/other-processes.js';
import type { Clock } from '../timing/clock.js';
import { allInSlices } from '../timing/event-loop.js';
import { type ResolvedModuleOptions } from '../options/module-options-schema.js';
import { type ResolvedQueueOptions } from '../options/queue-options-schema.js';
import { resolveQueueOptions } from '../options/resolve-options.js';
import { MemoryMessageStore } from '../store/memory/memory-store.js';
import { MemoryWorkerRegistry } from '../store/memory/memory-worker-registry.js';
import { MemoryQueueDirectory, MemoryStores } from '../store/memory/memory-stores.js';
import { NativeQueueDirectory } from '../store/native/native-directory.js';
import { NativeWorkerRegistry } from '../store/native/native-worker-registry.js';
import { NativeRepeatMarks } from '../store/native/repeat-marks.js';
import type { WorkerRegistry } from '../store/worker-registry.js';
import type { QueueDirectory } from '../store/queue-directory.js';
import { QueueCheck } from '../store/queue-check.js';
import type { Router } from '../store/router.js';
import { neededToCall } from '../redis/check/permissions.js';
import { RedisCheck } from '../redis/check/redis-check.js';
import { examineConnection } from '../redis/connection/redis-client.js';
import { Startup } from '../redis/connection/startup.js';
import { RedisConnections } from '../redis/redis-connections.js';
import { type RedisServer, waitFor } from '../redis/commands/redis-server.js';
import { placeOf, serverName } from '../redis/check/server-info.js';
import { limitsOfPartition, openerInRedis, routerOf } from './open-queue.js';

/** A queue or family that this process must be able to serve. */
export interface CheckedQueue {
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  /** Undefined for a family, whose queues are opened when they are used. */
  readonly router?: Router;
}

/** Creates the stores of all queues, and owns their connections. */
export interface Stores {
  /** Opens connections in the background, without waiting for them. */
  connect(): void;
  /** Called when the application has started. Until then, connections that nothing uses are closed. */
  started(): void;
  /**
   * Checks the server, the user's permissions for all commands of the queues, and that the queues can be served here. Checks again after
   * each outage; problems found then are only logged.
   * @throws DelayQueueError `LOGIN_REFUSED`, `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`, `INVALID_OPTION`; others if the check cannot run
   */
  check(queues: readonly CheckedQueue[]): Promise<void>;
  /** True if there is a connection to the server, or to any server of a cluster. */
  readonly isConnected: boolean;
  open(queue: string, options: ResolvedQueueOptions): Router;
  readonly directory: QueueDirectory;
  /** Undefined if processes are not listed. */
  readonly workerRegistry?: WorkerRegistry;
  /** Undefined if queues exist only in this process: it has one `groups` option per queue, so there is nothing to compare. */
  readonly groupsCheck?: GroupsCheck;
  /** Records offers for handlers that declare repeats. Undefined if this store loses nothing while the process runs. */
  readonly repeatMarks?: Pick<NativeRepeatMarks, 'has' | 'set' | 'list'>;
  /** The limits that were set for queues while they run. */
  readonly limits: LimitsRegistry;
  /** Identifies shared storage: instances with equal places share all queues. Undefined if only this instance can access the storage. */
  readonly place?: object;
  /** The servers' addresses as this process uses them, each with database and prefix. */
  addresses(): Promise<readonly string[]>;
  /** Called when the application stops. Afterwards, no call waits for Redis to come back. */
  failFast(): void;
  close(): Promise<void>;
}

interface ProcessParts {
  readonly clock: Clock;
  readonly events: Events;
}

export function createStores(options: ResolvedModuleOptions, parts: ProcessParts): Stores {
  return options.store === 'memory' ? memoryStores(parts) : redisStores(options, parts);
}

function redisStores(options: ResolvedModuleOptions, { clock, events }: ProcessParts): Stores {
  const { connection, prefix, offerTimeout, defaults, allowEviction, hasDefaultConnection: isDefault } = options;
  const { acknowledge: copies, scripting } = options;
  const startup = new Startup(clock);
  const connections = new RedisConnections({
    connection,
    clock,
    events,
    commandTimeout: offerTimeout,
    scripting,
    startup,
    heartbeat: resolveQueueOptions(defaults).blockTimeout,
    copies,
  });
  const limits = new NativeLimits(connections, prefix);
  const neededBy = ({ name, options: { layout, partitions, groups, history, idsFor } }: CheckedQueue) => [
    ...neededToCall(scripting),
    ...layout.neededCommands({
      ...{ prefix, queue: name, partitions, groups, history, idsFor },
      isCluster: connections.isCluster,
    }),
    ...(copies ? [{ name: waitFor(copies).command }] : []),
  ];
  return {
    connect: () => {
      const { overridden } = examineConnection(connection);
      if (overridden.length > 0) events.note('options-overridden', { options: overridden });
      connections.connect();
    },
    started: () => {
      startup.done();
      limits.start();
    },
    check: async (checked) => {
      const { commands } = connections;
      const queues = checked.map((queue) => ({ name: queue.name, needed: () => neededBy(queue) }));
      const ofRouters = checked.flatMap(({ router }) => router?.check ?? []);
      const queueCheck = new QueueCheck(async () => {
        // Those of a queue with partitions are refused. A process that only offers needs to know none.
        if (checked.length > 0) await limits.known;
        await allInSlices(ofRouters, clock, (each) => each());
      });
      const onFirst = (servers: readonly RedisServer[], info: string | undefined) => {
        const server = info === undefined ? undefined : serverName(info);
        events.note('connected', { server, ...placeOf(servers, connections.isCluster), prefix, isDefault });
      };
      const check = new RedisCheck({ commands, queues, allowEviction, copies, events, onFirst });
      const onFailed = (error: unknown) => {
        if (hasCode(error, 'INVALID_OPTION')) events.emit('server-unsupported', { reason: showFailure(error) });
      };
      await check.start().finally(() => queueCheck.catchUp(connections.servers, onFailed));
      await queueCheck.run();
    },
    get isConnected() {
      return connections.servers.isReady;
    },
    open: openerInRedis(connections, prefix, limits),
    directory: new NativeQueueDirectory(connections, prefix, () => void limits.refresh().catch(() => undefined)),
    limits,
    workerRegistry: new NativeWorkerRegistry(connections, prefix),
    repeatMarks: new NativeRepeatMarks(connections, prefix),
    groupsCheck: new GroupsCheck(new OtherProcesses(connections, prefix), events),
    place: { connection, prefix },
    addresses: async () => {
      const servers = await connections.commands.servers.all('INFO');
      return servers.map((server) => {
        const { address, master, database } = placeOf([server], connections.isCluster);
        return [master ?? address, database, prefix].join(' ');
      });
    },
    failFast: () => connections.failFast(),
    close: () => {
      limits.stop();
      return connections.close();
    },
  };
}

function memoryStores({ clock, events }: ProcessParts): Stores {
  const directory = new MemoryQueueDirectory();
  const stores = new MemoryStores(directory, (_, limits) => new MemoryMessageStore({ limits, clock }));
  const limits = new MemoryLimits((queue, options: ResolvedQueueOptions, set) => {
    const { partitions, groups } = options;
    return stores.open(queue, partitions, { ...limitsOfPartition({ ...options, ...set }), groups });
  });
  return {
    connect: () => events.note('memory-store', {}),
    started: () => undefined,
    open: (queue, options) => routerOf(limits.open(queue, options), options),
    directory,
    limits,
    workerRegistry: new MemoryWorkerRegistry(clock),
    check: () => Promise.resolve(),
    isConnected: true,
    addresses: () => Promise.resolve(['memory']),
    failFast: () => undefined,
    close: () => Promise.resolve(),
  };
}
