import type { Cluster, Redis } from 'ioredis';
import { hasCode } from '../../message/failure.js';
import { redisOverrides } from './read-client-options.js';
import type { ConnectionRole } from './redis-client.js';
import { type ConnectionParts, RedisConnection, type ConnectionSettings } from './redis-connection.js';
import { notConnected, type Redirection } from './redis-errors.js';

/** How long a call waits for a server before it looks whether another one has taken its place, ms. */
const LOOK_AGAIN = 250;

/**
 * Which server of a cluster has which slot.
 *
 * ioredis finds the servers and reads the map. It sends nothing else: it would send a call again by itself, and not say
 * whether a call that failed was sent.
 */
export class ClusterMap {
  readonly #cluster: Cluster;
  readonly #settings: ConnectionSettings;
  readonly #connection: RedisConnection;
  readonly #listeners = new Set<() => void>();
  /** A client of ioredis for a server of this cluster, never connected here: the others get its options. */
  #pattern: Redis | undefined;
  #primaries: readonly string[] = [];
  #isReading = false;
  #hurried = false;

  constructor(cluster: Cluster, settings: ConnectionSettings) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.#connection = new RedisConnection('commands', settings, { client: cluster });
    cluster.on('refresh', () => this.#changed());
  }

  connect(): void {
    this.#connection.connect();
  }

  /** The addresses of all primaries that have slots. */
  get primaries(): readonly string[] {
    return this.#primaries;
  }

  /** The address of the primary that has a slot; undefined if none is known. */
  primaryOf(slot: number): string | undefined {
    return this.#cluster.slots[slot]?.[0];
  }

  /** Calls `listener` after each reading of the map, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Creates a connection to a server, not connected yet. */
  open(role: ConnectionRole, address: string, parts: Omit<ConnectionParts, 'client'> = {}): RedisConnection {
    const [, host, port] = /^(.*):(\d+)$/.exec(address)!;
    const known = this.#cluster.nodes().find(({ options }) => addressOf(options) === address) ?? this.#pattern!;
    const client = known.duplicate({
      ...redisOverrides,
      connectionName: `delay-queue:${role}`,
      readOnly: false,
      host,
      port: Number(port),
    });
    const onRedirection = (redirection: Redirection) => this.note(redirection);
    return new RedisConnection(role, this.#settings, { client, onRedirection, ...parts });
  }

  /** Takes note of what a server says about a slot. */
  note({ word, slot, address }: Redirection): void {
    if (word === 'MOVED') {
      this.#cluster.slots[slot!] = [this.addressFor(address!)];
      this.#changed();
    }
    if (word !== 'ASK' && word !== 'TRYAGAIN') this.readAgain();
  }

  /** The address at which this process reaches a server. */
  addressFor(address: string): string {
    const { natMap } = this.#cluster.options;
    const mapped = typeof natMap === 'function' ? natMap(address) : natMap?.[address];
    return mapped ? addressOf(mapped) : address;
  }

  /** Asks the servers for the map, in the background. */
  readAgain(): void {
    if (this.#isReading || !this.#connection.isReady) return;
    this.#isReading = true;
    this.#cluster.refreshSlotsCache(() => (this.#isReading = false));
  }

  /**
   * Waits until the connection that `find` returns is ready. While it is not, it may become another one with each reading.
   *
   * @param find - undefined if none is known; what it throws ends the wait
   * @throws DelayQueueError `NOT_CONNECTED` after `timeout` ms, `LOGIN_REFUSED`, `CLOSED`
   */
  async ready(find: () => RedisConnection | undefined, command: string, timeout: number): Promise<void> {
    const { clock, commandTimeout } = this.#settings;
    const deadline = clock.monotonic() + timeout;
    for (;;) {
      const connection = find();
      if (connection?.isReady) return;
      const left = Math.max(0, deadline - clock.monotonic());
      const wait = { ms: Math.min(left, LOOK_AGAIN), isLast: left <= LOOK_AGAIN };
      const awaited = connection ?? (this.#connection.isReady ? undefined : this.#connection);
      if (awaited) await this.#awaitReady(awaited, command, wait);
      else if (left === 0)
        throw notConnected(command, commandTimeout, new Error('no server of the cluster has the slot'));
      else {
        this.readAgain();
        await new Promise<void>((resolve) => clock.schedule(resolve, wait.ms));
      }
    }
  }

  get isClosed(): boolean {
    return this.#connection.isClosed;
  }

  hurry(): void {
    this.#hurried = true;
    this.#connection.hurry();
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #awaitReady(connection: RedisConnection, command: string, wait: { ms: number; isLast: boolean }) {
    try {
      await connection.ready(command, wait.ms);
    } catch (error) {
      const isReplaced = hasCode(error, 'CLOSED') && !this.isClosed;
      if (!isReplaced && (wait.isLast || this.#hurried || !hasCode(error, 'NOT_CONNECTED'))) throw error;
      this.readAgain();
    }
  }

  #changed(): void {
    const { slots } = this.#cluster;
    this.#pattern = this.#cluster.nodes()[0] ?? this.#pattern;
    this.#primaries = [...new Set(slots.flatMap((addresses) => addresses?.slice(0, 1) ?? []))];
    for (const listener of [...this.#listeners]) listener();
  }
}

const addressOf = ({ host, port }: { host?: string; port?: number }) => `${host}:${port}`;
