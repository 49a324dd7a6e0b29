import type { Redis } from 'ioredis';
import { FailureStreak, workFailures } from '../../events/failure-streak.js';
import type { CancelTimer } from '../../timing/clock.js';
import { failurePause } from '../../timing/failure-pause.js';
import { atMost } from '../../timing/pauses.js';
import type { RedisClient } from '../connection/redis-client.js';
import type { Connection, ConnectionSettings } from '../connection/redis-connection.js';
import { explain, isMiscount, redirectionOf } from '../redis-errors.js';

export interface ChannelListener {
  onMessage(text: string, channel: string): void;
  /** The subscription is active: for the first time, or again after a gap in which messages may have been missed. */
  onListening(): void;
}

/** What can be subscribed to: a channel, all channels that match a pattern, or a sharded channel, whose slot the server has. */
export type TopicKind = 'channel' | 'pattern' | 'shard';

const SUBSCRIBE = { channel: 'subscribe', pattern: 'psubscribe', shard: 'ssubscribe' } as const;
const UNSUBSCRIBE = { channel: 'unsubscribe', pattern: 'punsubscribe', shard: 'sunsubscribe' } as const;

/** Opens the connection, and calls `onClient` for each client that it uses, before that is connected. */
export type Open = (onClient: (client: RedisClient) => void) => Connection;

export interface SubscriberSettings extends ConnectionSettings {
  /** How often the connection is tested, ms, because a subscriber would never notice that it is dead. */
  readonly heartbeat: number;
}

/** How long {@link Subscriber.catchUp} waits, ms: whoever asks holds something up. */
const LONGEST_CATCH_UP = 500;

interface Topic {
  readonly kind: TopicKind;
  readonly name: string;
  readonly listeners: Set<ChannelListener>;
  /** Whether the server has confirmed the subscription. */
  isConfirmed: boolean;
}

/** Listens to channels over one connection. */
export class Subscriber {
  readonly #settings: SubscriberSettings;
  readonly #openConnection: Open;
  readonly #topics = new Map<`${TopicKind} ${string}`, Topic>();
  #connection: Connection | undefined;
  /** The topics to subscribe to again, and why, if that has failed. */
  readonly #unconfirmed = new Map<Topic, unknown>();
  readonly #streak: FailureStreak;
  #failures = 0;
  #cancelHeartbeat: CancelTimer | undefined;
  #cancelRetry: CancelTimer | undefined;

  constructor(open: Open, settings: SubscriberSettings) {
    this.#openConnection = open;
    this.#settings = settings;
    this.#streak = new FailureStreak(settings.clock, workFailures(settings.events, 'subscribe'));
  }

  /** Whether nobody listens. */
  get isIdle(): boolean {
    return this.#topics.size === 0;
  }

  /** Listens until the returned function is called. */
  listen(kind: TopicKind, name: string, listener: ChannelListener): () => void {
    const connection = (this.#connection ??= this.#open());
    let topic = this.#topics.get(`${kind} ${name}`);
    if (!topic) this.#topics.set(`${kind} ${name}`, (topic = { kind, name, listeners: new Set(), isConfirmed: false }));
    topic.listeners.add(listener);
    if (connection.isReady) this.#subscribe(connection, [topic]);
    return () => this.#unlisten(topic, listener);
  }

  /** Resolves once the listeners have heard what was published before this call, or after a moment without an answer. */
  async catchUp(): Promise<void> {
    const connection = this.#connection;
    if (!connection?.isReady) return;
    const answered = connection.answer(connection.client.ping()).catch(() => undefined);
    await atMost(this.#settings.clock, LONGEST_CATCH_UP, answered);
  }

  async close(): Promise<void> {
    this.#cancelHeartbeat?.();
    this.#cancelRetry?.();
    await this.#connection?.close();
  }

  #open(): Connection {
    const connection: Connection = this.#openConnection((client) => {
      client.on('message', (channel: string, text: string) => this.#tell('channel', channel, channel, text));
      client.on('smessage', (channel: string, text: string) => this.#tell('shard', channel, channel, text));
      client.on('pmessage', (pattern: string, channel: string, text: string) =>
        this.#tell('pattern', pattern, channel, text),
      );
      client.on('ready', () => this.#subscribe(connection, [...this.#topics.values()]));
      client.on('moved', () => this.#renewEnded(connection));
      client.on('error', (error: unknown) => isMiscount(error) && this.#renewEnded(connection));
    });
    connection.connect();
    this.#scheduleHeartbeat(connection);
    return connection;
  }

  #tell(kind: TopicKind, name: string, channel: string, text: string): void {
    for (const listener of this.#topics.get(`${kind} ${name}`)?.listeners ?? []) listener.onMessage(text, channel);
  }

  #subscribe(connection: Connection, topics: readonly Topic[]): void {
    for (const topic of topics) topic.isConfirmed = false;
    for (const group of inOneCall(topics)) void this.#subscribeTo(connection, group);
  }

  /** @param topics - of one kind */
  async #subscribeTo(connection: Connection, topics: readonly Topic[]): Promise<void> {
    const command = SUBSCRIBE[topics[0]!.kind];
    try {
      await connection.answer(connection.client[command](...topics.map(({ name }) => name)));
    } catch (error) {
      if (!connection.isClosed) this.#failed(connection, topics, error);
      return;
    }
    for (const topic of topics) {
      topic.isConfirmed = true;
      this.#unconfirmed.delete(topic);
      for (const listener of topic.listeners) listener.onListening();
    }
    this.#worked();
  }

  /** @param topics - of one kind */
  #failed(connection: Connection, topics: readonly Topic[], error: unknown): void {
    const { kind } = topics[0]!;
    const wanted = topics.filter((topic) => this.#topics.get(`${kind} ${topic.name}`) === topic);
    if (wanted.length === 0) return;
    if (!redirectionOf(error)) this.#streak.callFailed(explain(SUBSCRIBE[kind].toUpperCase(), error));
    this.#subscribeLater(connection, wanted, error);
  }

  #subscribeLater(connection: Connection, topics: readonly Topic[], error?: unknown): void {
    for (const topic of topics) this.#unconfirmed.set(topic, error);
    this.#cancelRetry ??= this.#settings.clock.schedule(() => {
      this.#cancelRetry = undefined;
      // A new connection renews all subscriptions anyway.
      if (!connection.isReady) return;
      // A topic that is on another server moves there only now, because two servers may refer to each other for a while.
      for (const reason of [...this.#unconfirmed.values()]) connection.isElsewhere(reason);
      this.#subscribe(connection, [...this.#unconfirmed.keys()]);
    }, failurePause(++this.#failures));
  }

  /** Renews the subscriptions that the server has ended by itself, unless they have moved with their slots by then. */
  #renewEnded(connection: Connection): void {
    const kept = shardChannelsOf(connection.client);
    const isEnded = ({ kind, name, isConfirmed }: Topic) => kind === 'shard' && isConfirmed && !kept.has(name);
    const ended = [...this.#topics.values()].filter(isEnded);
    for (const topic of ended) topic.isConfirmed = false;
    if (ended.length > 0) this.#subscribeLater(connection, ended);
  }

  #unlisten(topic: Topic, listener: ChannelListener): void {
    const { kind, name, listeners } = topic;
    if (!listeners.delete(listener) || listeners.size > 0) return;
    this.#topics.delete(`${kind} ${name}`);
    this.#unconfirmed.delete(topic);
    this.#worked();
    if (this.#connection?.isReady) this.#connection.client[UNSUBSCRIBE[kind]](name).catch(() => undefined);
  }

  #worked(): void {
    if (this.#unconfirmed.size > 0) return;
    this.#failures = 0;
    this.#streak.worked();
  }

  #scheduleHeartbeat(connection: Connection): void {
    this.#cancelHeartbeat = this.#settings.clock.schedule(() => {
      this.#scheduleHeartbeat(connection);
      if (!connection.isReady) return;
      // A failure leads to a new connection, and so to new subscriptions.
      connection.answer(connection.client.ping()).catch(() => undefined);
      this.#renewEnded(connection);
    }, this.#settings.heartbeat);
  }
}

/** A call takes topics of one kind, and sharded channels of one slot. */
function inOneCall(topics: readonly Topic[]): (readonly Topic[])[] {
  const of = (kind: TopicKind) => topics.filter((topic) => topic.kind === kind);
  return [of('channel'), of('pattern'), ...of('shard').map((topic) => [topic])].filter(({ length }) => length > 0);
}

/** The channels of slots that a client is subscribed to: ioredis notes when the server ends such a subscription by itself. */
function shardChannelsOf(client: RedisClient): ReadonlySet<string> {
  const subscriptions = (client as Redis).condition?.subscriber;
  return new Set(subscriptions ? subscriptions.channels('ssubscribe') : []);
}
