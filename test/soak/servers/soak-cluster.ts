import { Cluster } from 'ioredis';
import { type ClusterMember, RedisCluster } from '../../support/redis/redis-cluster.js';
import type { TestRedis } from '../../support/redis/test-redis.js';
import { ClusterProxies } from '../../support/tcp-proxy/cluster-proxies.js';
import type { ClusterConnection } from '../../../lib/redis/options/connection-options.js';
import { LOGIN, USER_ARGUMENTS } from '../soak-user.js';
import type { Random } from '../random.js';
import { replicate, write } from './administer.js';
import { persistently } from './persistently.js';
import type { Primary, ReplicatedServers } from './replicated-servers.js';

/** Long enough for a busy machine, on which a server that is silent for so long is replaced although nobody stopped it, ms. */
const NODE_TIMEOUT = 2000;

/** The time that a server has to answer the observer, ms: one that is frozen never does. */
const PATIENCE = 1000;

/** Three primaries, each with a replica, which keep everything in memory. */
export class SoakCluster implements ReplicatedServers {
  readonly durability = 'asynchronous replication';
  readonly patience = NODE_TIMEOUT;
  readonly handsOverAll = true;
  readonly knowsWhenBack = true;
  /** One to each primary; and ioredis' own, to a server that it asks for the map, and to each whose role has changed. */
  readonly commandConnections = 3 + 6;
  readonly client: Cluster;

  private constructor(
    readonly cluster: RedisCluster,
    readonly network: ClusterProxies,
  ) {
    const { nodes, natMap } = cluster;
    this.client = new Cluster(nodes, { natMap, redisOptions: { connectionName: 'soak', commandTimeout: PATIENCE } });
    this.client.on('error', () => undefined);
  }

  static async start(): Promise<SoakCluster> {
    const cluster = await RedisCluster.start(USER_ARGUMENTS, { nodeTimeout: NODE_TIMEOUT, hasLinks: true });
    try {
      return new SoakCluster(cluster, await ClusterProxies.start(cluster));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get connection(): ClusterConnection {
    const { nodes, natMap } = this.cluster;
    return { cluster: { nodes, options: { natMap, redisOptions: LOGIN } } };
  }

  get proxiedConnection(): ClusterConnection {
    const { nodes, options } = this.network.connection.cluster;
    return { cluster: { nodes, options: { ...options, redisOptions: LOGIN } } };
  }

  async ask(command: string, ...words: readonly (string | number)[]): Promise<unknown[]> {
    return Promise.all(this.cluster.up.map((member) => this.cluster.ask(member, command, ...words)));
  }

  async primaries(): Promise<string> {
    return (await this.cluster.primaries()).map(({ id }) => id).join(' ');
  }

  async choosePrimary(random: Random): Promise<ClusterPrimary> {
    // Each primary has a third of all keys.
    const key = `{${random.int(0, 1_000_000)}}:mark`;
    return new ClusterPrimary(this.cluster, key, await persistently(() => this.cluster.primaryOf(key)));
  }

  untilWhole(): Promise<void> {
    return this.cluster.untilWhole();
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    await this.network.stop();
    await this.cluster.stop();
  }
}

class ClusterPrimary implements Primary {
  /** @param key - one that it has */
  constructor(
    private readonly cluster: RedisCluster,
    private readonly key: string,
    readonly member: ClusterMember,
  ) {}

  get server(): TestRedis {
    return this.member.server;
  }

  replicate(): Promise<void> {
    return persistently(() => replicate(this.server, { key: this.key, replicas: 1 }));
  }

  write(): Promise<void> {
    return write(this.server, this.key);
  }

  failOver(): Promise<void> {
    return this.cluster.failOver(this.key);
  }

  untilReplaced(): Promise<void> {
    return this.cluster.untilReplaced(this.key, this.member);
  }

  async isReplaced(): Promise<boolean> {
    return (await persistently(() => this.cluster.primaryOf(this.key))) !== this.member;
  }
}
