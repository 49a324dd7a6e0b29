import { Redis, type RedisOptions } from 'ioredis';
import { RedisSentinels } from '../../support/redis/redis-sentinels.js';
import { ProxyGroup } from '../../support/tcp-proxy/proxy-group.js';
import { TcpProxy } from '../../support/tcp-proxy/tcp-proxy.js';
import { LOGIN, USER_ARGUMENTS } from '../soak-user.js';
import { administer, replicate, write } from './administer.js';
import { persistently } from './persistently.js';
import type { Primary, ReplicatedServers } from './replicated-servers.js';

const REPLICAS = 2;

/** After how long without an answer a sentinel counts a server as gone, as the sentinels are configured, ms. */
const DOWN_AFTER = 1000;

/** A primary with two replicas, which keep everything in memory, and three sentinels. */
export class SoakSentinels implements ReplicatedServers {
  readonly durability = 'asynchronous replication, watched by sentinels';
  // Sentinels tell a replica that it is the primary, and only then the primary that it is not.
  readonly handsOverAll = false;
  // It is the primary that its arguments say, until a sentinel tells it.
  readonly knowsWhenBack = false;
  readonly commandConnections = 1;
  readonly client: Redis;
  readonly network: ProxyGroup;

  private constructor(
    private readonly sentinels: RedisSentinels,
    private readonly proxies: readonly TcpProxy[],
    readonly patience: number,
  ) {
    this.network = new ProxyGroup(proxies);
    this.client = new Redis({ ...sentinels.connection, connectionName: 'soak', retryStrategy: () => 50 });
    this.client.on('error', () => undefined);
  }

  static async start({ patience = DOWN_AFTER } = {}): Promise<SoakSentinels> {
    const sentinels = await RedisSentinels.start(USER_ARGUMENTS, patience);
    try {
      const proxies = await Promise.all(sentinels.servers.map(({ url }) => TcpProxy.start(url)));
      return new SoakSentinels(sentinels, proxies, patience);
    } catch (error) {
      await sentinels.stop();
      throw error;
    }
  }

  get connection(): RedisOptions {
    return { ...this.sentinels.connection, ...LOGIN };
  }

  get proxiedConnection(): RedisOptions {
    const entries = this.sentinels.servers.map(
      ({ host, port }, i) => [`${host}:${port}`, this.proxies[i]!.address] as const,
    );
    return { ...this.connection, natMap: Object.fromEntries(entries) };
  }

  ask(command: string, ...words: readonly (string | number)[]): Promise<unknown[]> {
    const up = this.sentinels.servers.filter(({ pid }) => pid !== undefined);
    return Promise.all(up.map((server) => administer(server, (redis) => redis.call(command, ...words))));
  }

  async primaries(): Promise<string> {
    return String((await this.sentinels.primary()).port);
  }

  async choosePrimary(): Promise<Primary> {
    const { sentinels } = this;
    const server = await persistently(() => sentinels.primary());
    const key = 'mark';
    return {
      server,
      replicate: () => persistently(() => replicate(server, { key, replicas: REPLICAS })),
      write: () => write(server, key),
      failOver: () => sentinels.failOver(),
      untilReplaced: () => sentinels.untilReplaced(server),
      isReplaced: async () => (await persistently(() => sentinels.primary())) !== server,
    };
  }

  untilWhole(): Promise<void> {
    return this.sentinels.untilWhole();
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    await this.network.stop();
    await this.sentinels.stop();
  }
}
