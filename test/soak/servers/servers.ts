import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { ClusterConnection } from '../../../lib/redis/options/connection-options.js';
import type { NetworkFaults } from '../../support/tcp-proxy/tcp-proxy.js';

/** How a process connects; it is handed over as JSON. */
export type Connection = string | RedisOptions | ClusterConnection;

/** The Redis of a run: one server, several that share the keys, or several that all have them. */
export interface Servers {
  /** How processes connect without a proxy. */
  readonly connection: Connection;
  /** How they connect through {@link network}. */
  readonly proxiedConnection: Connection;
  readonly network: NetworkFaults;
  /** Sends commands to the server that has their key. It bypasses the proxies, and so do the others below. */
  readonly client: Redis | Cluster;
  /** How what is acknowledged is kept, for the report. */
  readonly durability: string;
  /** The number of connections that a process has for commands. */
  readonly commandConnections: number;

  /** Sends a command to every server that runs, the replicas too. */
  ask(command: string, ...words: readonly (string | number)[]): Promise<unknown[]>;
  /** Ends all of them. */
  stop(): Promise<void>;
}
