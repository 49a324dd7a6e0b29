import type { Cluster } from 'ioredis';
import { RedisAnnouncements } from './announcements/redis-announcements.js';
import type { SubscriberSettings } from './announcements/subscriber.js';
import { ClusterMap } from './cluster/cluster-map.js';
import { ClusterServers, KeyConnection } from './cluster/cluster-servers.js';
import { RedisCommands } from './commands/redis-commands.js';
import { RedisServer, type RedisServers, type ServerSettings } from './commands/redis-server.js';
import { createClient, type RedisClient } from './connection/redis-client.js';
import { type Connection, RedisConnection } from './connection/redis-connection.js';
import { type WakeSignal, WakeSignals } from './wake-signals.js';

interface Settings extends ServerSettings, SubscriberSettings {}

/**
 * All connections of a process: one for commands, one for announcements (in a cluster, one of each to every primary), and those on which
 * consumers wait. Producer calls that wait for copies have their own connections, because Redis answers nothing else on them meanwhile.
 */
export class RedisConnections {
  readonly servers: RedisServers;
  readonly commands: RedisCommands;
  /** Sends producers' writes. */
  readonly writes: RedisCommands;
  readonly announcements: RedisAnnouncements;
  readonly clock: Settings['clock'];
  readonly events: Settings['events'];
  readonly #settings: Settings;
  readonly #map: ClusterMap | undefined;
  readonly #wakeSignals: WakeSignals;
  readonly #opened = new Set<Connection>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.clock = settings.clock;
    this.events = settings.events;
    const client = createClient(settings.connection, 'commands');
    if (client.isCluster) this.#map = new ClusterMap(client as Cluster, settings);
    this.servers = this.#serversOf('commands', client);
    this.commands = new RedisCommands(this.servers, settings);
    this.writes = settings.copies ? new RedisCommands(this.#serversOf('producer'), settings) : this.commands;
    this.#wakeSignals = new WakeSignals({
      clock: settings.clock,
      events: settings.events,
      open: (key) => this.#openForKey(key),
      unblock: this.#map ? undefined : async (id) => (await this.commands.send('CLIENT', 'UNBLOCK', id)).flag(),
    });
    this.announcements = new RedisAnnouncements(settings, client, this.#map);
  }

  get isCluster(): boolean {
    return this.#map !== undefined;
  }

  /** Opens the connections for commands in the background. */
  connect(): void {
    for (const servers of this.#allServers) servers.connect();
  }

  /** From now on, makes commands without a connection fail at once. */
  failFast(): void {
    for (const servers of this.#allServers) servers.failFast();
  }

  /** Opens the wake-up signal of one consumer. @param wakeAnother - puts back a signal that nobody here is waiting for */
  openWakeSignal(key: string, wakeAnother: () => Promise<void>): WakeSignal {
    return this.#wakeSignals.open(key, wakeAnother);
  }

  /** Opens a connection for calls that may block on a key. It is closed with the rest, unless the caller closes it earlier. */
  openConnection(key: string): Connection {
    for (const connection of this.#opened) if (connection.isClosed) this.#opened.delete(connection);
    const connection = this.#openForKey(key);
    this.#opened.add(connection);
    return connection;
  }

  /** Publishes on a queue's channel, as scripts do. Throws whatever Redis throws. */
  async publish(channel: string, text: string): Promise<void> {
    const received = await this.commands.send(this.isCluster ? 'SPUBLISH' : 'PUBLISH', channel, text);
    // Listeners to a channel pattern receive only what PUBLISH sends.
    if (this.isCluster && received.number() === 0) await this.commands.send('PUBLISH', channel, text);
  }

  async close(): Promise<void> {
    const parts = [...this.#allServers, this.announcements, this.#wakeSignals, ...this.#opened];
    await Promise.all(parts.map((each) => each.close()));
  }

  get #allServers(): ReadonlySet<RedisServers> {
    return new Set([this.servers, this.writes.servers]);
  }

  #serversOf(role: 'commands' | 'producer', client?: RedisClient): RedisServers {
    const settings = this.#settings;
    if (this.#map) return new ClusterServers(this.#map, settings, role);
    return new RedisServer(role, settings, { client });
  }

  #openForKey(key: string): Connection {
    const settings = this.#settings;
    return this.#map ? new KeyConnection(key, this.#map, settings) : new RedisConnection('wake-signals', settings);
  }
}
