import type { CancelTimer } from '../../timing/clock.js';
import { type Detour, RedisServer, type RedisServers, type ServerSettings } from '../commands/redis-server.js';
import type { ConnectionRole, RedisClient } from '../connection/redis-client.js';
import {
  type Connection,
  type ConnectionSettings,
  type Reach,
  RedisConnection,
} from '../connection/redis-connection.js';
import { closed, redirectionOf } from '../redis-errors.js';
import type { ClusterMap } from './cluster-map.js';
import { hashSlot } from './hash-slot.js';
import { connectionFailures, FailureStreak } from '../../events/failure-streak.js';

/** Pause before a call is sent again after a redirection, ms. */
const PAUSE = { MOVED: 5, ASK: 0, TRYAGAIN: 20, CLUSTERDOWN: 100 } as const;

/** The primaries of a cluster, each with its own connection, used like a single server. */
export class ClusterServers implements RedisServers {
  readonly #servers = new Map<string, RedisServer>();
  readonly #listeners = new Set<(server: RedisServer) => void>();
  #failsFast = false;
  #cancelRetiring: CancelTimer | undefined;

  constructor(
    private readonly map: ClusterMap,
    private readonly settings: ServerSettings,
    private readonly role: ConnectionRole,
  ) {
    map.onChange(() => this.#retireOthers());
  }

  connect(): void {
    this.map.connect();
  }

  of(key: string | undefined): RedisServer | undefined {
    const address = key === undefined ? this.#anyPrimary() : this.map.primaryOf(hashSlot(key));
    return address === undefined ? undefined : this.#serverAt(address);
  }

  reachOf(slot: number): Reach {
    const address = this.map.primaryOf(slot);
    if (address !== undefined) return this.#serverAt(address).reach;
    return this.map.primaries.length === 0 ? 'opening' : 'lost';
  }

  ready(command: string, timeout = this.settings.commandTimeout, key?: string): Promise<void> {
    return this.map.ready(() => this.of(key), command, timeout);
  }

  async all(command: string): Promise<readonly RedisServer[]> {
    await this.ready(command);
    const servers = this.map.primaries.map((address) => this.#serverAt(address));
    await Promise.all(servers.map((server) => server.ready(command)));
    return servers;
  }

  detour(error: unknown): Detour | undefined {
    const redirection = redirectionOf(error);
    if (!redirection) return undefined;
    const { word, address } = redirection;
    this.map.note(redirection);
    const asking = word === 'ASK' ? this.#serverAt(this.map.addressFor(address!)) : undefined;
    return { pause: PAUSE[word], asking };
  }

  onReady(listener: (server: RedisServer) => void): void {
    this.#listeners.add(listener);
    for (const server of this.#servers.values()) server.onReady(listener);
  }

  failFast(): void {
    this.#failsFast = true;
    this.map.failFast();
    for (const server of this.#servers.values()) server.failFast();
  }

  get isReady(): boolean {
    return [...this.#servers.values()].some(({ isReady }) => isReady);
  }

  get isClosed(): boolean {
    return this.map.isClosed;
  }

  async close(): Promise<void> {
    this.#cancelRetiring?.();
    const closed = [...this.#servers.values()].map((server) => server.close());
    await Promise.all([this.map.close(), ...closed]);
  }

  #anyPrimary(): string | undefined {
    const { primaries } = this.map;
    const isReady = (address: string) => this.#servers.get(address)?.isReady;
    return primaries.find(isReady) ?? primaries[Math.floor(Math.random() * primaries.length)];
  }

  #serverAt(address: string): RedisServer {
    const known = this.#servers.get(address);
    if (known) return known;
    const server = new RedisServer(this.role, this.settings, this.map.partsFor(this.role, address));
    this.#servers.set(address, server);
    this.map.follow(server);
    for (const listener of this.#listeners) server.onReady(listener);
    if (this.#failsFast) server.failFast();
    server.connect();
    return server;
  }

  /** Closes the connections to former primaries once no call can still be waiting for an answer. */
  #retireOthers(): void {
    const { clock, commandTimeout } = this.settings;
    const isOther = (address: string) => !this.map.primaries.includes(address);
    const others = [...this.#servers.keys()].filter(isOther);
    if (others.length === 0 || this.#cancelRetiring) return;
    this.#cancelRetiring = clock.schedule(() => {
      for (const address of others.filter(isOther)) {
        void this.#servers.get(address)?.retire();
        this.#servers.delete(address);
      }
      this.#cancelRetiring = undefined;
      this.#retireOthers();
    }, commandTimeout);
  }
}

/** A connection to the cluster server that has a key, for calls that block on it. Reconnects when the key moves to another server. */
export class KeyConnection implements Connection {
  readonly #hashSlot: number;
  readonly #outage: FailureStreak;
  readonly #unwatch: () => void;
  #address: string | undefined;
  #connection: RedisConnection | undefined;
  #isClosed = false;

  constructor(
    key: string,
    private readonly map: ClusterMap,
    private readonly settings: ConnectionSettings,
  ) {
    this.#hashSlot = hashSlot(key);
    this.#outage = new FailureStreak(settings.clock, connectionFailures(settings.events, 'wake-signals'));
    this.#unwatch = map.onChange(() => this.#follow());
  }

  /** Available once the connection has been ready. */
  get client(): RedisClient {
    return this.#connection!.client;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  ready(command: string, timeout = this.settings.commandTimeout): Promise<void> {
    const find = () => {
      if (this.#isClosed) throw closed(command);
      return this.#follow();
    };
    return this.map.ready(find, command, timeout);
  }

  answer<Answer>(answer: Promise<Answer>, patience?: number): Promise<Answer> {
    return this.#connection!.answer(answer, patience);
  }

  isElsewhere(error: unknown): boolean {
    return this.#connection?.isElsewhere(error) ?? false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unwatch();
    await this.#connection?.close();
  }

  #follow(): RedisConnection | undefined {
    const address = this.map.primaryOf(this.#hashSlot);
    if (this.#isClosed || address === undefined || address === this.#address) return this.#connection;
    void this.#connection?.close();
    const parts = { ...this.map.partsFor('wake-signals', address), outage: this.#outage };
    const connection = new RedisConnection('wake-signals', this.settings, parts);
    this.#address = address;
    this.#connection = connection;
    // Another server may have the key now.
    connection.client.on('close', () => connection.isClosed || connection.isResting || this.map.readAgain());
    connection.connect();
    return connection;
  }
}
