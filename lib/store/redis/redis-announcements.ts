import { FailureStreak, workFailures } from '../../events/failure-streak.js';
import type { CancelTimer } from '../../timing/clock.js';
import { failurePause } from '../../timing/failure-pause.js';
import { RedisConnection, type ConnectionSettings } from './redis-connection.js';
import { explain } from './redis-errors.js';

export interface ChannelListener {
  onMessage(text: string): void;
  /** The subscription is active: for the first time, or again after a gap in which messages may have been missed. */
  onListening(): void;
}

/** Listens to channels over one connection that all queues of a process share. */
export class RedisAnnouncements {
  readonly #settings: ConnectionSettings;
  readonly #heartbeat: number;
  readonly #listeners = new Map<string, Set<ChannelListener>>();
  #connection: RedisConnection | undefined;
  /** Channels whose subscription has failed. */
  readonly #unheard = new Set<string>();
  readonly #streak: FailureStreak;
  #failures = 0;
  #cancelHeartbeat: CancelTimer | undefined;
  #cancelRetry: CancelTimer | undefined;

  /** @param heartbeat - how often the connection is tested, ms, because a subscriber would never notice that it is dead */
  constructor(settings: ConnectionSettings, heartbeat: number) {
    this.#settings = settings;
    this.#heartbeat = heartbeat;
    this.#streak = new FailureStreak(settings.clock, workFailures(settings.events, 'subscribe'));
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
    this.#cancelRetry?.();
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
      if (!connection.isClosed) this.#subscribeLater(connection, channels, error);
      return;
    }
    for (const channel of channels) {
      this.#unheard.delete(channel);
      for (const listener of this.#listeners.get(channel) ?? []) listener.onListening();
    }
    if (this.#unheard.size > 0) return;
    this.#failures = 0;
    this.#streak.worked();
  }

  #subscribeLater(connection: RedisConnection, channels: readonly string[], error: unknown): void {
    for (const channel of channels) this.#unheard.add(channel);
    this.#streak.callFailed(explain('SUBSCRIBE', error));
    this.#cancelRetry?.();
    this.#cancelRetry = this.#settings.clock.schedule(() => {
      // A new connection renews all subscriptions anyway.
      if (connection.isReady) void this.#subscribe(connection, [...this.#unheard]);
    }, failurePause(++this.#failures));
  }

  #unlisten(channel: string, listener: ChannelListener): void {
    const listeners = this.#listeners.get(channel);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#listeners.delete(channel);
    this.#unheard.delete(channel);
    if (this.#connection?.isReady) this.#connection.client.unsubscribe(channel).catch(() => undefined);
  }

  #scheduleHeartbeat(connection: RedisConnection): void {
    this.#cancelHeartbeat = this.#settings.clock.schedule(() => {
      this.#scheduleHeartbeat(connection);
      // A failure leads to a new connection, and so to a new subscription.
      if (connection.isReady) connection.answer(connection.client.ping()).catch(() => undefined);
    }, this.#heartbeat);
  }
}
