import type { ClusterConnection } from '../../../lib/redis/options/connection-options.js';
import type { ClusterMember, RedisCluster } from '../redis/redis-cluster.js';
import { ProxyGroup } from './proxy-group.js';
import { TcpProxy } from './tcp-proxy.js';

/** A proxy before each server of a cluster. The servers do not know of them; clients are told by a `natMap`. */
export class ClusterProxies extends ProxyGroup {
  private constructor(private readonly proxies: ReadonlyMap<ClusterMember, TcpProxy>) {
    super([...proxies.values()]);
  }

  static async start(cluster: RedisCluster): Promise<ClusterProxies> {
    const start = async (member: ClusterMember) => [member, await TcpProxy.start(member.server.url)] as const;
    return new ClusterProxies(new Map(await Promise.all(cluster.members.map(start))));
  }

  /** How to connect through them. */
  get connection(): ClusterConnection {
    const entries = [...this.proxies].map(([member, { address }]) => [member.knownAs, address] as const);
    return {
      cluster: { nodes: entries.map(([, address]) => address), options: { natMap: Object.fromEntries(entries) } },
    };
  }

  before(member: ClusterMember): TcpProxy {
    return this.proxies.get(member)!;
  }
}
