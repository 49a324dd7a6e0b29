import { Cluster, Redis, type RedisOptions } from 'ioredis';
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

  if (typeof connection === 'function') return connection({ ...reconnecting, ...overrides });
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

const reconnecting = {
  retryStrategy: (times: number) => Math.min(times * 50, LONGEST_RECONNECT_PAUSE),
  // After a failover the old primary answers as a replica: connect anew, wherever the name leads now.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

function isCluster(connection: ConnectionOptions): connection is Extract<ConnectionOptions, { cluster: unknown }> {
  return typeof connection === 'object' && 'cluster' in connection;
}
