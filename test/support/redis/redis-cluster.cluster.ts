import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { until } from '../until.js';
import { type ClusterMember, RedisCluster } from './redis-cluster.js';

describe.each([false, true])('a test cluster (with links: %s)', (hasLinks) => {
  let cluster: RedisCluster;
  let client: Cluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start([], { hasLinks });
    client = new Cluster(cluster.nodes, { natMap: cluster.natMap });
  });
  afterAll(async () => {
    client.disconnect();
    await cluster.stop();
  });

  it('has three primaries, each with a replica', async () => {
    const primaries = await Promise.all(['a', 'b', 'c'].map((key) => cluster.primaryOf(key)));
    const replicas = await Promise.all(['a', 'b', 'c'].map((key) => cluster.replicaOf(key)));
    expect(new Set([...primaries, ...replicas]).size).toBe(6);
  });

  it('fails over to a replica that has all data', async () => {
    await client.set('key', 'value');
    const former = await cluster.primaryOf('key');
    await cluster.failOver('key');
    expect(await cluster.primaryOf('key')).not.toBe(former);
    expect(await cluster.replicaOf('key')).toBe(former);
    expect(await client.get('key')).toBe('value');
  });

  it('moves a slot with its keys', async () => {
    await client.mset('{tag}1', 'one', '{tag}2', 'two');
    const move = await cluster.beginMove('{tag}');
    expect(await move.moveKeys(1)).toBe(1);
    const source = await cluster.primaryOf('{tag}');
    await expect(cluster.ask(source, 'MGET', '{tag}1', '{tag}2')).rejects.toThrow(/^TRYAGAIN/);
    await move.finish();
    expect(await cluster.primaryOf('{tag}')).toBe(move.target);
    expect(await client.mget('{tag}1', '{tag}2')).toEqual(['one', 'two']);
  });

  it('replaces a primary that is killed, which comes back as a replica', async () => {
    const former = await cluster.primaryOf('key');
    await former.server.kill9();
    await cluster.untilReplaced('key', former);
    await former.server.restart();
    await cluster.untilWhole();
    expect(await cluster.replicaOf('key')).toBe(former);
  });

  it('replaces a primary that is frozen', async () => {
    const former = await cluster.primaryOf('key');
    await former.server.freeze();
    await cluster.untilReplaced('key', former);
    await former.server.thaw();
    await until(async () => (await cluster.replicaOf('key')) === former, { within: 20_000 });
    await cluster.untilWhole();
    expect(await cluster.primaryOf('key')).not.toBe(former);
  });
});

describe('an isolated server of a cluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start([], { hasLinks: true });
  });
  afterAll(() => cluster.stop());

  /** True if a replica has everything that its primary has. */
  async function hasAll(replica: ClusterMember, primary: ClusterMember): Promise<boolean> {
    const infos = await Promise.all([replica, primary].map((member) => cluster.ask(member, 'INFO', 'replication')));
    const [its, all] = infos.map((info) => /master_repl_offset:(\d+)/.exec(String(info))![1]);
    return its === all;
  }

  it('accepts writes that its replica misses, is replaced, and becomes a replica afterwards', async () => {
    const former = await cluster.primaryOf('key');
    const replica = await cluster.replicaOf('key');
    await cluster.ask(former, 'SET', 'key', 'before');
    await until(() => hasAll(replica, former), { within: 20_000 });
    const heal = cluster.isolate(former);
    expect(await cluster.ask(former, 'SET', 'key', 'isolated')).toBe('OK');
    await cluster.untilReplaced('key', former);
    expect(await cluster.ask(replica, 'GET', 'key')).toBe('before');
    await expect(cluster.ask(former, 'GET', 'key')).rejects.toThrow(/^CLUSTERDOWN/);
    heal();
    await cluster.untilWhole();
    expect(await cluster.replicaOf('key')).toBe(former);
    expect(await cluster.ask(replica, 'GET', 'key')).toBe('before');
  });

  it('stays the primary if the isolation is short', async () => {
    const primary = await cluster.primaryOf('key');
    const heal = cluster.isolate(primary);
    await cluster.ask(primary, 'SET', 'key', 'meanwhile');
    heal();
    await cluster.untilWhole();
    expect(await cluster.primaryOf('key')).toBe(primary);
    await until(async () => hasAll(await cluster.replicaOf('key'), primary), { within: 20_000 });
  });
});
