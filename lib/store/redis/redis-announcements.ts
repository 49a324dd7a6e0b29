import { FailureStreak, workFailures } from '../../events/failure-streak.js';
import type { CancelTimer } from '../../timing/clock.js';
import { failurePause } from '../../timing/failure-pause.js';
import type { RedisClient } from './redis-client.js';
import type { ConnectionSettings, Wire } from './redis-connection.js';
import { explain } from './redis-errors.js';

export interface ChannelListener {
  onMessage(text: string, channel: string): void;
  /** The subscription is active: for the first time, or again after a gap in which messages may have been missed. */
  onListening(): void;
}

/** What can be subscribed to: one channel, or all whose names match a pattern. */
type Kind = 'channel' | 'pattern';

const SUBSCRIBE = { channel: 'subscribe', pattern: 'psubscribe' } as const;
const UNSUBSCRIBE = { channel: 'unsubscribe', pattern: 'punsubscribe' } as const;

/** Opens the connection, and calls `onClient` for each client that it uses, before that is connected. */
export type OpenWire = (onClient: (client: RedisClient) => void) => Wire;

export interface AnnouncementSettings extends Pick<ConnectionSettings, 'clock' | 'events'> {
  /** How often the connection is tested, ms, because a subscriber would never notice that it is dead. */
  readonly heartbeat: number;
}

interface Topic {
  readonly kind: Kind;
  readonly name: string;
  readonly listeners: Set<ChannelListener>;
}

/** Listens to channels over one connection that all queues of a process share. */
export class RedisAnnouncements {
  readonly #settings: AnnouncementSettings;
  readonly #openWire: OpenWire;
  readonly #topics: Readonly<Record<Kind, Map<string, Topic>>> = { channel: new Map(), pattern: new Map() };
  #connection: Wire | undefined;
  /** Those whose subscription has failed. */
  readonly #unheard = new Set<Topic>();
  readonly #streak: FailureStreak;
  #failures = 0;
  #cancelHeartbeat: CancelTimer | undefined;
  #cancelRetry: CancelTimer | undefined;

  constructor(openWire: OpenWire, settings: AnnouncementSettings) {
    this.#openWire = openWire;
    this.#settings = settings;
    this.#streak = new FailureStreak(settings.clock, workFailures(settings.events, 'subscribe'));
  }

  /** Listens until the returned function is called. */
  listen(channel: string, listener: ChannelListener): () => void {
    return this.#listen('channel', channel, listener);
  }

  /** Listens to all channels that match a pattern, until the returned function is called. */
  listenToAll(pattern: string, listener: ChannelListener): () => void {
    return this.#listen('pattern', pattern, listener);
  }

  async close(): Promise<void> {
    this.#cancelHeartbeat?.();
    this.#cancelRetry?.();
    await this.#connection?.close();
  }

  #listen(kind: Kind, name: string, listener: ChannelListener): () => void {
    const connection = (this.#connection ??= this.#open());
    const topics = this.#topics[kind];
    let topic = topics.get(name);
    if (!topic) topics.set(name, (topic = { kind, name, listeners: new Set() }));
    topic.listeners.add(listener);
    if (connection.isReady) void this.#subscribe(connection, [topic]);
    return () => this.#unlisten(topic, listener);
  }

  #open(): Wire {
    const connection: Wire = this.#openWire((client) => {
      client.on('message', (channel: string, text: string) => this.#tell('channel', channel, channel, text));
      client.on('pmessage', (pattern: string, channel: string, text: string) =>
        this.#tell('pattern', pattern, channel, text),
      );
      client.on('ready', () => void this.#subscribeToAll(connection));
    });
    connection.connect();
    this.#scheduleHeartbeat(connection);
    return connection;
  }

  #tell(kind: Kind, name: string, channel: string, text: string): void {
    for (const listener of this.#topics[kind].get(name)?.listeners ?? []) listener.onMessage(text, channel);
  }

  async #subscribeToAll(connection: Wire): Promise<void> {
    const { channel, pattern } = this.#topics;
    await Promise.all([channel, pattern].map((topics) => this.#subscribe(connection, [...topics.values()])));
  }

  /** @param topics - of one kind */
  async #subscribe(connection: Wire, topics: readonly Topic[]): Promise<void> {
    if (topics.length === 0) return;
    const command = SUBSCRIBE[topics[0]!.kind];
    try {
      await connection.answer(connection.client[command](...topics.map(({ name }) => name)));
    } catch (error) {
      if (!connection.isClosed) this.#subscribeLater(connection, topics, explain(command.toUpperCase(), error));
      return;
    }
    for (const topic of topics) {
      this.#unheard.delete(topic);
      for (const listener of topic.listeners) listener.onListening();
    }
    if (this.#unheard.size > 0) return;
    this.#failures = 0;
    this.#streak.worked();
  }

  #subscribeLater(connection: Wire, topics: readonly Topic[], error: Error): void {
    for (const topic of topics) this.#unheard.add(topic);
    this.#streak.callFailed(error);
    this.#cancelRetry?.();
    this.#cancelRetry = this.#settings.clock.schedule(() => {
      // A new connection renews all subscriptions anyway.
      if (!connection.isReady) return;
      for (const kind of ['channel', 'pattern'] as const) {
        void this.#subscribe(
          connection,
          [...this.#unheard].filter((topic) => topic.kind === kind),
        );
      }
    }, failurePause(++this.#failures));
  }

  #unlisten(topic: Topic, listener: ChannelListener): void {
    const { kind, name, listeners } = topic;
    if (!listeners.delete(listener) || listeners.size > 0) return;
    this.#topics[kind].delete(name);
    this.#unheard.delete(topic);
    if (this.#connection?.isReady) this.#connection.client[UNSUBSCRIBE[kind]](name).catch(() => undefined);
  }

  #scheduleHeartbeat(connection: Wire): void {
    this.#cancelHeartbeat = this.#settings.clock.schedule(() => {
      this.#scheduleHeartbeat(connection);
      // A failure leads to a new connection, and so to a new subscription.
      if (connection.isReady) connection.answer(connection.client.ping()).catch(() => undefined);
    }, this.#settings.heartbeat);
  }
}
