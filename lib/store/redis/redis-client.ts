import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { DelayQueueError } from '../../delay-queue.errors.js';
import type { ConnectionOptions } from '../../delay-queue.options.js';

export type RedisClient = Redis | Cluster;

/** What a connection is for; part of its name in `CLIENT LIST`. */
export type ConnectionRole = 'commands' | 'announcements' | 'doorbell';

/** The longest pause between two attempts to reconnect, so that work goes on soon after Redis is back. */
const LONGEST_RECONNECT_PAUSE = 1000;

/**
 * Makes a client that is not connected yet.
 *
 * The client keeps no commands for later and repeats none by itself: whoever sends a command learns at once that it was
 * not sent, or that its outcome is unknown, and decides.
 */
export function createClient(connection: ConnectionOptions, role: ConnectionRole): RedisClient {
  const overrides = {
    connectionName: `delay-queue:${role}`,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // Longer than a goodbye takes; ioredis' own 2 s would outlive a closed application whose Redis is gone.
    disconnectTimeout: 100,
  } satisfies RedisOptions;

  if (typeof connection === 'function') return fromFactory(connection({ ...reconnecting, ...overrides }));
  if (typeof connection === 'string') return new Redis(connection, { ...reconnecting, ...overrides });
  if (!isCluster(connection)) return new Redis({ ...reconnecting, ...connection, ...overrides });

  const { nodes, options } = connection.cluster;
  return new Cluster(nodes, {
    ...options,
    lazyConnect: true,
    enableOfflineQueue: false,
    redisOptions: { ...options?.redisOptions, ...overrides },
  });
}

/**
 * Of a shared client the module would subscribe with, block on and close what belongs to others; one that was told not to
 * connect yet by the overrides cannot be shared.
 */
function fromFactory(client: RedisClient): RedisClient {
  if ((client as RedisClient | undefined)?.status === 'wait') return client;
  throw new DelayQueueError(
    'INVALID_OPTION',
    'connection: the function must return a new ioredis client for each call, made with the overrides it is given: ' +
      '(overrides) => new Redis({ ...yours, ...overrides })',
  );
}

const reconnecting = {
  retryStrategy: (times: number) => Math.min(times * 50, LONGEST_RECONNECT_PAUSE),
  // After a failover the old primary answers as a replica: connect anew, wherever the name leads now.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

function isCluster(connection: ConnectionOptions): connection is Extract<ConnectionOptions, { cluster: unknown }> {
  return typeof connection === 'object' && 'cluster' in connection;
}
