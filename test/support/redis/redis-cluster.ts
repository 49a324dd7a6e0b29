import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Redis } from 'ioredis';
import { until } from '../until.js';
import { ClusterLinks, type Ports } from './cluster-links.js';
import { LastWill } from './last-will.js';
import { onFreePorts, randomPort } from './random-port.js';
import { startRedis } from './start-redis.js';
import type { TestRedis } from './test-redis.js';

const PRIMARIES = 3;
const SLOTS = 16384;
const ATTEMPTS = 10;

const NODE_TIMEOUT = 1000;

/** Longer than anything that a cluster does by itself. */
const SETTLE_TIMEOUT = 20_000;

/** The time that a server has to answer: a frozen one never does. */
const PATIENCE = { connectTimeout: 1000, commandTimeout: 1000 };

/** A node before it starts: its ports and its identity. */
interface Place extends Ports {
  readonly id: string;
  /** The ports by which the others know it. */
  readonly known: Ports;
  /** The slots of a primary. */
  readonly slots?: readonly [number, number];
  /** The id of a replica's primary. */
  readonly replicaOf?: string;
}

/** One server of a cluster. */
export interface ClusterMember {
  readonly id: string;
  readonly server: TestRedis;
  /** The address that the cluster tells of. */
  readonly knownAs: string;
}

export interface ClusterSettings {
  /** The time for which a node may be silent before the others replace it, ms. Unplanned failovers take about twice as long. */
  readonly nodeTimeout?: number;
  /** True if servers can be isolated. Their clients then need {@link RedisCluster.natMap}. */
  readonly hasLinks?: boolean;
}

/** What the servers of a cluster have in common. */
interface MemberSetting {
  readonly folder: string;
  readonly args: readonly string[];
  readonly nodeTimeout: number;
}

/** A real Redis Cluster: three primaries, each with a replica. Its servers may crash, freeze and come back. */
export class RedisCluster {
  readonly #lastWill: LastWill;

  private constructor(
    readonly members: ClusterMember[],
    private readonly setting: MemberSetting,
    private readonly links: ClusterLinks | undefined,
  ) {
    this.#lastWill = new LastWill(setting.folder);
  }

  /**
   * Starts the servers, each with the configuration that the others would give it, so that nobody has to be introduced. The
   * caller must `stop()` it.
   *
   * @param args - more arguments of every server
   */
  static start(args: readonly string[] = [], settings: ClusterSettings = {}): Promise<RedisCluster> {
    return onFreePorts(() => this.#startOnce(args, settings), ATTEMPTS);
  }

  static async #startOnce(args: readonly string[], settings: ClusterSettings): Promise<RedisCluster> {
    const { nodeTimeout = NODE_TIMEOUT, hasLinks = false } = settings;
    const folder = mkdtempSync(join(tmpdir(), 'test-cluster-'));
    const unlinked = newPlaces();
    const links = hasLinks ? await ClusterLinks.between(unlinked) : undefined;
    const places = unlinked.map((place) => ({ ...place, known: links?.portsOf(place.id) ?? place }));
    const setting: MemberSetting = { folder, args, nodeTimeout };
    const starts = await Promise.allSettled(places.map((place) => startMember(place, places, setting)));
    const members = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const cluster = new RedisCluster(members, setting, links);
    try {
      for (const start of starts) if (start.status === 'rejected') throw start.reason;
      if (cluster.up.length < members.length) throw new Error('Servers in containers cannot form a cluster.');
      await cluster.untilWhole();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** The nodes from which clients may start. */
  get nodes(): { host: string; port: number }[] {
    return this.members.map(({ server: { host, port } }) => ({ host, port }));
  }

  /** Leads clients from the addresses that the cluster tells of to the servers. */
  get natMap(): Record<string, { host: string; port: number }> {
    return Object.fromEntries(this.members.map(({ knownAs, server: { host, port } }) => [knownAs, { host, port }]));
  }

  /** The server that has a key now, as most servers see it. */
  async primaryOf(key: string): Promise<ClusterMember> {
    return this.#memberAt(await this.#majority((ranges) => rangeOf(key, ranges)?.nodes[0]));
  }

  /** A replica of the server that has a key now. */
  async replicaOf(key: string): Promise<ClusterMember> {
    return this.#memberAt(await this.#majority((ranges) => rangeOf(key, ranges)?.nodes[1]));
  }

  /** A planned failover: the replica takes over once it has everything. Resolves when all servers know. */
  async failOver(key: string): Promise<void> {
    const replica = await this.replicaOf(key);
    await this.ask(replica, 'CLUSTER', 'FAILOVER');
    await until(async () => (await this.primaryOf(key)) === replica, { within: SETTLE_TIMEOUT });
    await this.untilWhole();
  }

  /** Waits until another server has the key; for after a primary was killed or frozen. */
  async untilReplaced(key: string, former: ClusterMember): Promise<void> {
    await until(async () => (await this.primaryOf(key)) !== former, { within: SETTLE_TIMEOUT });
  }

  /** Every server that has slots now, as most servers see it. */
  async primaries(): Promise<ClusterMember[]> {
    const ids = await this.#majority((ranges) => [...new Set(ranges.map(({ nodes }) => nodes[0]!))].sort().join(' '));
    return ids.split(' ').map((id) => this.#memberAt(id));
  }

  /** Cuts a server off from the others, not from its clients; the returned function ends it. */
  isolate({ id }: ClusterMember): () => void {
    if (!this.links) throw new Error('The cluster was started without links.');
    return this.links.isolate(id);
  }

  /** Begins to move the slot of a key to another primary. Its keys are still where they were. */
  async beginMove(key: string, to?: ClusterMember): Promise<SlotMove> {
    const source = await this.primaryOf(key);
    const target = to ?? (await this.primaries()).find((member) => member !== source)!;
    const slot = slotOf(key);
    await this.ask(target, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id);
    await this.ask(source, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id);
    return new SlotMove(this, { slot, source, target });
  }

  /** Starts another primary, and introduces it to the others. Slots can be moved to it. */
  async join(): Promise<ClusterMember> {
    const { place, member } = await onFreePorts(async () => {
      const place = { ...newPlaces()[0]!, slots: undefined };
      const alone = { ...place, known: place };
      return { place, member: await startMember(alone, [alone], this.setting) };
    }, ATTEMPTS);
    this.members.push(member);
    const [first] = this.members;
    await this.ask(first!, 'CLUSTER', 'MEET', member.server.host, place.port, place.busPort);
    const hasJoined = async () =>
      (await Promise.all(this.up.map((other) => this.#serves(other, member)))).every(Boolean);
    await until(hasJoined, { within: SETTLE_TIMEOUT });
    return member;
  }

  /** Resolves when every running server knows the others, that all slots are served, and that all replicas are in sync. */
  async untilWhole(): Promise<void> {
    await until(
      async () => {
        const infos = await Promise.all(this.up.map((member) => this.ask(member, 'CLUSTER', 'INFO')));
        const states = await Promise.all(this.up.map((member) => this.ask(member, 'INFO', 'replication')));
        const maps = await Promise.all(this.up.map((member) => this.#slotsSeenBy(member)));
        return (
          infos.every((info) => String(info).includes('cluster_state:ok')) &&
          states.every((state) => /role:master|master_link_status:up/.test(String(state))) &&
          new Set(maps.map((map) => JSON.stringify(map))).size === 1 &&
          new Set(maps[0]!.flatMap(({ nodes }) => nodes)).size === this.up.length
        );
      },
      { within: SETTLE_TIMEOUT, every: 50 },
    );
  }

  /** Sends a command to one server. */
  async ask(member: ClusterMember, command: string, ...words: (string | number)[]): Promise<unknown> {
    const redis = new Redis(member.server.url, { retryStrategy: null, maxRetriesPerRequest: 0, ...PATIENCE });
    redis.on('error', () => undefined);
    try {
      return await redis.call(command, ...words);
    } finally {
      redis.disconnect();
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ server }) => server.stop()));
    this.links?.stop();
    await this.#lastWill.execute();
  }

  /** The servers that run. */
  get up(): ClusterMember[] {
    return this.members.filter(({ server }) => server.pid !== undefined);
  }

  /** True if a server answers for its slots, and knows another one. */
  async #serves(member: ClusterMember, { id }: ClusterMember): Promise<boolean> {
    const info = await this.ask(member, 'CLUSTER', 'INFO');
    return String(info).includes('cluster_state:ok') && String(await this.ask(member, 'CLUSTER', 'NODES')).includes(id);
  }

  /** What most of the servers say that answer. */
  async #majority(read: (ranges: SlotRange[]) => string | undefined): Promise<string> {
    const answers = await Promise.allSettled(this.up.map((member) => this.#slotsSeenBy(member)));
    const views = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [read(answer.value)] : []));
    if (views.length === 0) throw new Error('No server of the cluster answers.', { cause: answers });
    const votes = (view: string | undefined) => views.filter((each) => each === view).length;
    const [winner] = [...views].sort((a, b) => votes(b) - votes(a));
    if (winner === undefined) throw new Error('No server of the cluster has it.');
    return winner;
  }

  /** Which servers have which slots, the primary first. */
  async #slotsSeenBy(member: ClusterMember): Promise<SlotRange[]> {
    const ranges = (await this.ask(member, 'CLUSTER', 'SLOTS')) as [number, number, ...[string, number, string][]][];
    return ranges
      .map(([from, to, ...nodes]) => ({ from, to, nodes: nodes.map(([, , id]) => id) }))
      .sort((a, b) => a.from - b.from);
  }

  #memberAt(id: string): ClusterMember {
    return this.members.find((member) => member.id === id)!;
  }
}

interface SlotRange {
  readonly from: number;
  readonly to: number;
  /** Their ids. */
  readonly nodes: readonly string[];
}

const slotOf = (key: string) => new Command('get', [key]).getSlot();

function rangeOf(key: string, ranges: readonly SlotRange[]): SlotRange | undefined {
  const slot = slotOf(key);
  return ranges.find(({ from, to }) => from <= slot && slot <= to);
}

/** A slot on its way from one primary to another. */
export class SlotMove {
  constructor(
    private readonly cluster: RedisCluster,
    private readonly way: { readonly slot: number; readonly source: ClusterMember; readonly target: ClusterMember },
  ) {}

  get target(): ClusterMember {
    return this.way.target;
  }

  /** Moves at most `count` keys. From the first to the last, the servers answer TRYAGAIN to a call with several keys. */
  async moveKeys(count = 1000): Promise<number> {
    const { slot, source, target } = this.way;
    const keys = (await this.cluster.ask(source, 'CLUSTER', 'GETKEYSINSLOT', slot, count)) as string[];
    const { host, port } = target.server;
    if (keys.length > 0) await this.cluster.ask(source, 'MIGRATE', host, port, '', 0, 5000, 'KEYS', ...keys);
    return keys.length;
  }

  /** Moves all keys that are left, and tells every primary. */
  async finish(): Promise<void> {
    const { slot, source, target } = this.way;
    while ((await this.moveKeys()) > 0);
    await this.cluster.ask(target, 'CLUSTER', 'SETSLOT', slot, 'NODE', target.id);
    await this.cluster.ask(source, 'CLUSTER', 'SETSLOT', slot, 'NODE', target.id);
    await this.cluster.untilWhole();
  }
}

function newPlaces(): Omit<Place, 'known'>[] {
  const ports = new Set<number>();
  while (ports.size < 4 * PRIMARIES) ports.add(randomPort());
  const free = [...ports];
  const newPlace = () => ({ id: randomBytes(20).toString('hex'), port: free.pop()!, busPort: free.pop()! });
  const primaries = Array.from({ length: PRIMARIES }, (_, i) => ({ ...newPlace(), slots: share(i) }));
  return [...primaries, ...primaries.map(({ id }) => ({ ...newPlace(), replicaOf: id }))];
}

/** The slots of one primary: its part of all of them. */
function share(index: number): [number, number] {
  const start = (i: number) => Math.round((i * SLOTS) / PRIMARIES);
  return [start(index), start(index + 1) - 1];
}

/** The configuration of the cluster as one of its servers keeps it. */
function clusterConfig(own: Place, places: readonly Place[]): string {
  const lines = places.map((place, i) => {
    const flags = `${place === own ? 'myself,' : ''}${place.replicaOf === undefined ? 'master' : 'slave'}`;
    const {
      id,
      known: { port, busPort },
      replicaOf = '-',
      slots,
    } = place;
    // Each primary has an epoch of its own, or two would have to agree on new ones first.
    const epoch = (i % PRIMARIES) + 1;
    const line = `${id} 127.0.0.1:${port}@${busPort} ${flags} ${replicaOf} 0 0 ${epoch} connected`;
    return slots ? `${line} ${slots.join('-')}` : line;
  });
  return [...lines, `vars currentEpoch ${PRIMARIES} lastVoteEpoch 0`, ''].join('\n');
}

async function startMember(
  place: Place,
  places: readonly Place[],
  { folder, args, nodeTimeout }: MemberSetting,
): Promise<ClusterMember> {
  const dir = join(folder, String(place.port));
  mkdirSync(dir);
  writeFileSync(join(dir, 'nodes.conf'), clusterConfig(place, places));
  const options = {
    'cluster-enabled': 'yes',
    'cluster-port': String(place.busPort),
    'cluster-node-timeout': String(nodeTimeout),
    'cluster-announce-ip': '127.0.0.1',
    'cluster-announce-port': String(place.known.port),
    'cluster-announce-bus-port': String(place.known.busPort),
    // Others would wait for more replicas to join the same transfer.
    'repl-diskless-sync-delay': '0',
    // Nobody is told of a replica that has received nothing yet.
    'repl-ping-replica-period': '1',
  };
  const own = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const server = await startRedis({ dir, port: place.port, args: [...own, ...args] });
  return { id: place.id, server, knownAs: `${server.host}:${place.known.port}` };
}
