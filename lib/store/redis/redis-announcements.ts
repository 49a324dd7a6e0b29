import type { CancelTimer } from '../../clock.js';
import { RedisConnection, type ConnectionSettings } from './redis-connection.js';

export interface ChannelListener {
  onMessage(text: string): void;
  /** The subscription holds, for the first time or again after a gap in which messages may have been missed. */
  onListening(): void;
}

/** Listens to channels over one connection that all queues of a process share. */
export class RedisAnnouncements {
  readonly #settings: ConnectionSettings;
  readonly #heartbeat: number;
  readonly #listeners = new Map<string, Set<ChannelListener>>();
  #connection: RedisConnection | undefined;
  #cancelHeartbeat: CancelTimer | undefined;
  #refused = false;

  /** @param heartbeat - every so many ms the connection is tried, because a subscriber would never notice its death */
  constructor(settings: ConnectionSettings, heartbeat: number) {
    this.#settings = settings;
    this.#heartbeat = heartbeat;
  }

  /** Listens until the returned function is called. */
  listen(channel: string, listener: ChannelListener): () => void {
    const connection = (this.#connection ??= this.#open());
    let listeners = this.#listeners.get(channel);
    if (!listeners) this.#listeners.set(channel, (listeners = new Set()));
    listeners.add(listener);
    if (connection.isReady) void this.#subscribe(connection, [channel]);
    return () => this.#unlisten(channel, listener);
  }

  async close(): Promise<void> {
    this.#cancelHeartbeat?.();
    await this.#connection?.close();
  }

  #open(): RedisConnection {
    const connection = new RedisConnection('announcements', this.#settings);
    connection.client.on('message', (channel: string, text: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener.onMessage(text);
    });
    connection.client.on('ready', () => void this.#subscribe(connection, [...this.#listeners.keys()]));
    connection.connect();
    this.#scheduleHeartbeat(connection);
    return connection;
  }

  async #subscribe(connection: RedisConnection, channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return;
    try {
      await connection.answer(connection.client.subscribe(...channels));
    } catch (error) {
      if (connection.isClosed) return;
      this.#refused = true;
      this.#settings.logger.error(
        `Announcements are not heard, so messages may be late by up to checkInterval: ${String(error)}`,
      );
      return;
    }
    this.#refused = false;
    for (const channel of channels) {
      for (const listener of this.#listeners.get(channel) ?? []) listener.onListening();
    }
  }

  #unlisten(channel: string, listener: ChannelListener): void {
    const listeners = this.#listeners.get(channel);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#listeners.delete(channel);
    if (this.#connection?.isReady) this.#connection.client.unsubscribe(channel).catch(() => undefined);
  }

  #scheduleHeartbeat(connection: RedisConnection): void {
    this.#cancelHeartbeat = this.#settings.clock.schedule(() => {
      this.#scheduleHeartbeat(connection);
      if (!connection.isReady) return;
      if (this.#refused) void this.#subscribe(connection, [...this.#listeners.keys()]);
      // A failure shows as a new connection, and so as a new subscription.
      else connection.answer(connection.client.ping()).catch(() => undefined);
    }, this.#heartbeat);
  }
}
