import type { ClusterConnection } from '../../../lib/store/redis/connection-options.js';
import type { ClusterMember, RedisCluster } from '../redis/redis-cluster.js';
import type { ConnectionFilter, Hold, RequestFilter, Sighting } from './faults.js';
import type { ProxiedConnection } from './proxied-connection.js';
import { TcpProxy } from './tcp-proxy.js';

/** A proxy before each server of a cluster. The servers do not know of them; clients are told by a `natMap`. */
export class ClusterProxies {
  private constructor(private readonly proxies: ReadonlyMap<ClusterMember, TcpProxy>) {}

  static async start(cluster: RedisCluster): Promise<ClusterProxies> {
    const start = async (member: ClusterMember) => [member, await TcpProxy.start(member.server.url)] as const;
    return new ClusterProxies(new Map(await Promise.all(cluster.members.map(start))));
  }

  /** How to connect through them. */
  get connection(): ClusterConnection {
    const addressOf = (proxy: TcpProxy) => {
      const { hostname, port } = new URL(proxy.url);
      return { host: hostname, port: Number(port) };
    };
    const entries = [...this.proxies].map(
      ([{ server }, proxy]) => [`${server.host}:${server.port}`, addressOf(proxy)] as const,
    );
    return {
      cluster: { nodes: entries.map(([, address]) => address), options: { natMap: Object.fromEntries(entries) } },
    };
  }

  get connections(): readonly ProxiedConnection[] {
    return this.#all.flatMap(({ connections }) => connections);
  }

  before(member: ClusterMember): TcpProxy {
    return this.proxies.get(member)!;
  }

  watch(which: RequestFilter): Sighting[] {
    return this.#all.map((proxy) => proxy.watch(which));
  }

  /** Lets commands reach the servers, and keeps their answers until they are released. */
  holdReplies(which: RequestFilter): Hold {
    const holds = this.#all.map((proxy) => proxy.holdReplies(which));
    return {
      get count() {
        return holds.reduce((sum, { count }) => sum + count, 0);
      },
      release: () => holds.forEach((hold) => hold.release()),
    };
  }

  goDarkOnceFor(which: ConnectionFilter): ProxiedConnection[] {
    return this.#all.flatMap((proxy) => proxy.goDarkOnceFor(which));
  }

  reset(which: ConnectionFilter): number {
    return this.#all.reduce((sum, proxy) => sum + proxy.reset(which), 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((proxy) => proxy.stop()));
  }

  get #all(): TcpProxy[] {
    return [...this.proxies.values()];
  }
}
