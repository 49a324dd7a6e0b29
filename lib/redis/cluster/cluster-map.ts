import type { Cluster, Redis } from 'ioredis';
import { hasCode } from '../../message/failure.js';
import type { ConnectionRole } from '../connection/redis-client.js';
import { type ConnectionParts, RedisConnection, type ConnectionSettings } from '../connection/redis-connection.js';
import { redisOverrides } from '../options/read-client-options.js';
import { sleep } from '../../timing/pauses.js';
import { notConnected, type Redirection } from '../redis-errors.js';
import { SLOTS } from './hash-slot.js';

/** How long a call waits for a server before checking whether another has replaced it, ms. */
const LOOK_AGAIN = 250;

/** How many servers are asked for the map at once, because one may hang; and how long an answer may take, ms. */
const ASKED = 2;
const READ_TIMEOUT = 1000;

/**
 * Knows which server of a cluster has which hash slot. The `Cluster` of ioredis only finds the servers and reads the first map. It sends
 * nothing else, because it retries calls on its own without saying whether a failed call was sent. It also keeps needless connections, so
 * it is suspended once a server is connected. Connected servers are then asked for the map. If none is left, ioredis looks for servers.
 */
export class ClusterMap {
  readonly #cluster: Cluster;
  readonly #settings: ConnectionSettings;
  readonly #connection: RedisConnection;
  readonly #servers = new Set<RedisConnection>();
  #slots: (string | undefined)[] = [];
  readonly #listeners = new Set<() => void>();
  /** The clients that ioredis has created for the servers. This module duplicates them, with the same options. */
  #templates: readonly Redis[] = [];
  #primaries: readonly string[] = [];
  #reading: symbol | undefined;
  #failsFast = false;

  constructor(cluster: Cluster, settings: ConnectionSettings) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.#connection = new RedisConnection('commands', settings, { client: cluster });
    cluster.on('+node', (node: Redis) => this.#renewPassword(node));
    cluster.on('refresh', () => {
      const nodes = cluster.nodes();
      if (nodes.length > 0) this.#templates = nodes;
      this.#learn(cluster.slots.map((addresses) => addresses?.[0]));
    });
    this.#connection.onReady(() => this.#suspendCluster());
  }

  connect(): void {
    if (this.#primaries.length === 0) this.#connection.connect();
  }

  /** The primaries that have hash slots. */
  get primaries(): readonly string[] {
    return this.#primaries;
  }

  primaryOf(hashSlot: number): string | undefined {
    return this.#slots[hashSlot];
  }

  /** Calls `listener` after each reading of the map, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Creates the parts of a connection to a server. The `Cluster` must already have connected. */
  partsFor(role: ConnectionRole, address: string): ConnectionParts {
    const [, host, port] = /^(.*):(\d+)$/.exec(address)!;
    const template = this.#templates.find(({ options }) => addressOf(options) === address) ?? this.#templates[0]!;
    const client = template.duplicate({
      ...redisOverrides,
      connectionName: `delay-queue:${role}`,
      readOnly: false,
      host,
      port: Number(port),
    });
    this.#renewPassword(client);
    return { client, onRedirection: (redirection) => this.note(redirection) };
  }

  /**
   * Lets each new connection of a client log in with the cluster's current password: an application may replace it, because some services
   * accept only tokens that soon expire.
   */
  #renewPassword({ options }: Redis): void {
    const { password } = options;
    const get = () => this.#cluster.options.redisOptions?.password ?? password;
    Object.defineProperty(options, 'password', { get, enumerable: true, configurable: true });
  }

  /** From now on, also reads the map from this server. */
  follow(server: RedisConnection): void {
    this.#servers.add(server);
    server.onReady(() => this.#suspendCluster());
    server.client.on('end', () => server.isClosed && this.#servers.delete(server));
    // Another server may have replaced this one.
    server.client.on('close', () => this.readAgain());
  }

  note({ word, hashSlot, address }: Redirection): void {
    if (word === 'MOVED') {
      this.#slots[hashSlot!] = this.addressFor(address!);
      this.#changed();
    }
    if (word !== 'ASK' && word !== 'TRYAGAIN') this.readAgain();
  }

  /** Returns the address by which this process reaches a server. */
  addressFor(address: string): string {
    const { natMap } = this.#cluster.options;
    const mapped = typeof natMap === 'function' ? natMap(address) : natMap?.[address];
    return mapped ? addressOf(mapped) : address;
  }

  readAgain(): void {
    if (this.#reading || this.isClosed) return;
    const servers = [...this.#servers].filter(({ isReady }) => isReady);
    if (servers.length === 0 && !this.#connection.isReady) return this.#connection.connect();
    const reading = Symbol('reading');
    this.#reading = reading;
    const end = () => {
      cancelTimer();
      if (this.#reading === reading) this.#reading = undefined;
    };
    const cancelTimer = this.#settings.clock.schedule(end, READ_TIMEOUT);
    if (servers.length === 0) return this.#cluster.refreshSlotsCache(end);
    void Promise.any(chosenFrom(servers).map((server) => readSlots(server, (address) => this.addressFor(address))))
      .then((slots) => {
        // A late answer does not count: a server that was frozen may report an old map.
        if (this.#reading === reading) this.#learn(slots);
      })
      // If this fails, the next caller that needs the map reads it again.
      .catch(() => undefined)
      .finally(end);
  }

  /**
   * Waits until the connection that `find` returns is ready. Each reading of the map may change that connection. Throws like
   * `Connection.ready`, and whatever `find` throws.
   * @param find - returns undefined if no connection is known
   */
  async ready(find: () => RedisConnection | undefined, command: string, timeout: number): Promise<void> {
    const { clock, commandTimeout } = this.#settings;
    const deadline = clock.monotonic() + timeout;
    for (;;) {
      const connection = find();
      if (connection?.isReady) return;
      const left = Math.max(0, deadline - clock.monotonic());
      const pause = Math.min(left, LOOK_AGAIN);
      const awaited = connection ?? (this.#connection.isReady ? undefined : this.#connection);
      if (!awaited && left === 0)
        throw notConnected(command, commandTimeout, new Error('no server of the cluster has the hash slot'));
      try {
        if (awaited) await awaited.ready(command, pause);
        else {
          this.readAgain();
          await sleep(clock, pause);
        }
      } catch (error) {
        const isReplaced = hasCode(error, 'CLOSED') && !this.isClosed;
        const isLast = left <= LOOK_AGAIN || this.#failsFast || !hasCode(error, 'NOT_CONNECTED');
        if (isLast && !isReplaced) throw error;
        this.readAgain();
      }
    }
  }

  get isClosed(): boolean {
    return this.#connection.isClosed;
  }

  failFast(): void {
    this.#failsFast = true;
    this.#connection.failFast();
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #suspendCluster(): void {
    if (this.#connection.isReady && [...this.#servers].some(({ isReady }) => isReady)) this.#connection.suspend();
  }

  #learn(slots: (string | undefined)[]): void {
    this.#slots = slots;
    this.#changed();
  }

  #changed(): void {
    this.#primaries = [...new Set(this.#slots.filter((address) => address !== undefined))];
    for (const listener of [...this.#listeners]) listener();
  }
}

function chosenFrom(servers: readonly RedisConnection[]): readonly RedisConnection[] {
  const first = Math.floor(Math.random() * servers.length);
  return [...servers.slice(first), ...servers.slice(0, first)].slice(0, ASKED);
}

async function readSlots(
  { client }: RedisConnection,
  addressFor: (address: string) => string,
): Promise<(string | undefined)[]> {
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string | null, number]][];
  const slots = new Array<string | undefined>(SLOTS).fill(undefined);
  for (const [from, to, [host, port]] of ranges) {
    // A server that does not know its own name omits it.
    slots.fill(addressFor(`${host || (client as Redis).options.host!}:${port}`), from, to + 1);
  }
  return slots;
}

const addressOf = ({ host, port }: { host?: string; port?: number }) => `${host}:${port}`;
