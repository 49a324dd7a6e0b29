import type { Redis } from 'ioredis';
import { FailureStreak, workFailures } from '../../events/failure-streak.js';
import type { CancelTimer } from '../../timing/clock.js';
import { atMost, failurePause } from '../../timing/pauses.js';
import type { ConnectionSettings, RedisConnection } from '../connection/redis-connection.js';
import { explain, isMiscount, redirectionOf } from '../redis-errors.js';

export interface ChannelListener {
  onMessage(text: string, channel: string): void;
  /** Called when the subscription becomes active, initially or after a gap in which messages may have been missed. */
  onListening(): void;
}

/** An ordinary channel, a pattern of channels, or a sharded channel whose hash slot is on this server. */
export type TopicKind = 'channel' | 'pattern' | 'shard';

const SUBSCRIBE = { channel: 'subscribe', pattern: 'psubscribe', shard: 'ssubscribe' } as const;
const UNSUBSCRIBE = { channel: 'unsubscribe', pattern: 'punsubscribe', shard: 'sunsubscribe' } as const;

export interface SubscriberSettings extends ConnectionSettings {
  /** How often the connection is tested, ms: a subscriber would otherwise never notice a dead connection. */
  readonly heartbeat: number;
}

/** Maximum wait of {@link Subscriber.catchUp}, ms. Callers delay other work during the wait. */
const MAX_CATCH_UP = 500;

interface Topic {
  readonly kind: TopicKind;
  readonly name: string;
  readonly listeners: Set<ChannelListener>;
  isConfirmed: boolean;
}

/** Listens to channels over one connection, which it opens and closes. */
export class Subscriber {
  readonly #settings: SubscriberSettings;
  readonly #topics = new Map<`${TopicKind} ${string}`, Topic>();
  /** The topics to subscribe to again, each with its error if subscribing failed. */
  readonly #unconfirmed = new Map<Topic, unknown>();
  readonly #streak: FailureStreak;
  #failures = 0;
  #cancelHeartbeat: CancelTimer | undefined;
  #cancelRetry: CancelTimer | undefined;

  /** @param connection - not connected yet */
  constructor(
    readonly connection: RedisConnection,
    settings: SubscriberSettings,
  ) {
    this.#settings = settings;
    this.#streak = new FailureStreak(settings.clock, workFailures(settings.events, 'subscribe'));
    const { client } = connection;
    client.on('message', (channel: string, text: string) => this.#announce('channel', channel, channel, text));
    client.on('smessage', (channel: string, text: string) => this.#announce('shard', channel, channel, text));
    client.on('pmessage', (...[pattern, channel, text]: [string, string, string]) =>
      this.#announce('pattern', pattern, channel, text),
    );
    connection.onReady(() => this.#subscribe([...this.#topics.values()]));
    client.on('moved', () => this.#renewEnded());
    client.on('error', (error: unknown) => isMiscount(error) && this.#renewEnded());
    connection.connect();
    this.#scheduleHeartbeat();
  }

  get isIdle(): boolean {
    return this.#topics.size === 0;
  }

  /** Listens until the returned function is called. */
  listen(kind: TopicKind, name: string, listener: ChannelListener): () => void {
    let topic = this.#topics.get(`${kind} ${name}`);
    if (!topic) this.#topics.set(`${kind} ${name}`, (topic = { kind, name, listeners: new Set(), isConfirmed: false }));
    topic.listeners.add(listener);
    if (this.connection.isReady) this.#subscribe([topic]);
    return () => this.#unlisten(topic, listener);
  }

  /** Resolves once listeners have received everything published before this call, or after a moment without an answer. */
  async catchUp(): Promise<void> {
    if (this.connection.isReady) await atMost(this.#settings.clock, MAX_CATCH_UP, this.#ping());
  }

  async close(): Promise<void> {
    this.#cancelHeartbeat?.();
    this.#cancelRetry?.();
    await this.connection.close();
  }

  #announce(kind: TopicKind, name: string, channel: string, text: string): void {
    for (const listener of this.#topics.get(`${kind} ${name}`)?.listeners ?? []) listener.onMessage(text, channel);
  }

  #subscribe(topics: readonly Topic[]): void {
    for (const topic of topics) topic.isConfirmed = false;
    for (const group of inOneCall(topics)) void this.#subscribeTo(group);
  }

  async #subscribeTo(topics: readonly Topic[]): Promise<void> {
    const { connection } = this;
    const command = SUBSCRIBE[topics[0]!.kind];
    try {
      await connection.answer(connection.client[command](...topics.map(({ name }) => name)));
    } catch (error) {
      if (!connection.isClosed) this.#failed(command, topics, error);
      return;
    }
    for (const topic of topics) {
      topic.isConfirmed = true;
      this.#unconfirmed.delete(topic);
      for (const listener of topic.listeners) listener.onListening();
    }
    this.#worked();
  }

  #failed(command: string, topics: readonly Topic[], error: unknown): void {
    const wanted = topics.filter(({ listeners }) => listeners.size > 0);
    if (wanted.length === 0) return;
    if (!redirectionOf(error)) this.#streak.callFailed(explain(command.toUpperCase(), error));
    this.#subscribeLater(wanted, error);
  }

  #subscribeLater(topics: readonly Topic[], error?: unknown): void {
    for (const topic of topics) this.#unconfirmed.set(topic, error);
    this.#cancelRetry ??= this.#settings.clock.schedule(() => {
      this.#cancelRetry = undefined;
      // A new connection renews all subscriptions anyway.
      if (!this.connection.isReady) return;
      // Only now looks for the new servers of topics that have moved, because two servers may redirect to each other for a while.
      for (const reason of [...this.#unconfirmed.values()]) this.connection.isElsewhere(reason);
      this.#subscribe([...this.#unconfirmed.keys()]);
    }, failurePause(++this.#failures));
  }

  /** Schedules a renewal of subscriptions that the server has ended. By then, those that have moved with their hash slots are gone. */
  #renewEnded(): void {
    const subscriptions = (this.connection.client as Redis).condition?.subscriber;
    // ioredis removes from this record any subscription that the server has ended.
    const kept = new Set(subscriptions ? subscriptions.channels('ssubscribe') : []);
    const isEnded = ({ kind, name, isConfirmed }: Topic) => kind === 'shard' && isConfirmed && !kept.has(name);
    const ended = [...this.#topics.values()].filter(isEnded);
    for (const topic of ended) topic.isConfirmed = false;
    if (ended.length > 0) this.#subscribeLater(ended);
  }

  #unlisten(topic: Topic, listener: ChannelListener): void {
    const { kind, name, listeners } = topic;
    if (!listeners.delete(listener) || listeners.size > 0) return;
    this.#topics.delete(`${kind} ${name}`);
    this.#unconfirmed.delete(topic);
    this.#worked();
    if (this.connection.isReady) this.connection.client[UNSUBSCRIBE[kind]](name).catch(() => undefined);
  }

  #worked(): void {
    if (this.#unconfirmed.size > 0) return;
    this.#failures = 0;
    this.#streak.worked();
  }

  /** Pings the server. Never rejects: if no answer arrives, the connection is replaced, and the subscriptions are renewed. */
  #ping(): Promise<unknown> {
    return this.connection.answer(this.connection.client.ping()).catch(() => undefined);
  }

  #scheduleHeartbeat(): void {
    this.#cancelHeartbeat = this.#settings.clock.schedule(() => {
      this.#scheduleHeartbeat();
      if (!this.connection.isReady) return;
      void this.#ping();
      this.#renewEnded();
    }, this.#settings.heartbeat);
  }
}

/** Groups topics by call: a call takes topics of one kind, or a single sharded channel. */
function inOneCall(topics: readonly Topic[]): (readonly Topic[])[] {
  const of = (kind: TopicKind) => topics.filter((topic) => topic.kind === kind);
  return [of('channel'), of('pattern'), ...of('shard').map((topic) => [topic])].filter(({ length }) => length > 0);
}
