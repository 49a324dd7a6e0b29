import type { CancelTimer } from '../../timing/clock.js';
import type { ClusterMap } from '../cluster/cluster-map.js';
import { hashSlot } from '../cluster/hash-slot.js';
import { databaseOf, type RedisClient } from '../connection/redis-client.js';
import { RedisConnection } from '../connection/redis-connection.js';
import { isMiscount } from '../redis-errors.js';
import { type ChannelListener, Subscriber, type SubscriberSettings, type TopicKind } from './subscriber.js';

/** How long to wait for a lost connection before choosing another server of the cluster, ms. */
const LEAVE_PAUSE = 250;

/** How long a change of a cluster's map may take to reach all its servers, including a margin, ms. */
const READ_AGAIN = 1000;

const SINGLE_SERVER = '';

interface Subscription {
  readonly kind: TopicKind;
  readonly name: string;
  readonly listener: ChannelListener;
  /** The server that has the subscription, and a function that ends the subscription there. */
  address?: string;
  stop?: () => void;
}

/**
 * Listens to announcements for all queues of a process, over one connection to each server. In a cluster, scripts announce with `SPUBLISH`,
 * which stays on the queue's primary, because `PUBLISH` goes to all servers. If nobody receives the `SPUBLISH`, the script also sends a
 * `PUBLISH`, because patterns match nothing from `SPUBLISH`. So a process whose own pattern matches a channel listens to that channel with
 * `SUBSCRIBE`: if it received the `SPUBLISH`, other processes' patterns would miss announcements. Announcements name their database,
 * because a server's databases share channels.
 */
export class RedisAnnouncements {
  readonly #subscriptions = new Set<Subscription>();
  readonly #subscribers = new Map<string, Subscriber>();
  /** The server on which this process subscribes to ordinary channels and patterns. Any server of a cluster will do. */
  #ordinary: string | undefined;
  readonly #unwatch: (() => void) | undefined;
  #cancelReading: CancelTimer | undefined;
  #cancelLeaving: CancelTimer | undefined;

  /** This process's database, as announcements name it. */
  database: string;
  /** The argument `database` for scripts that announce. It also selects `PUBLISH` or `SPUBLISH`. */
  databaseArgument: string;

  /** @param client - sends the commands of this process */
  constructor(
    private readonly settings: SubscriberSettings,
    client: RedisClient,
    private readonly map?: ClusterMap,
  ) {
    this.database = String(databaseOf(client));
    this.databaseArgument = map ? 'cluster' : this.database;
    // A client made by an application's function may select another database later.
    client.on('select', (database: number) => (this.database = this.databaseArgument = String(database)));
    if (!map) this.#ordinary = SINGLE_SERVER;
    this.#unwatch = map?.onChange(() => this.#follow(this.#subscriptions));
  }

  /** Listens to scripts' announcements on a queue's channel until the returned function is called. */
  listen(channel: string, listener: ChannelListener): () => void {
    return this.#subscribe(this.#isSharded(channel) ? 'shard' : 'channel', channel, listener);
  }

  /** Listens to everything published on a channel with `PUBLISH`. */
  listenToAny(channel: string, listener: ChannelListener): () => void {
    return this.#subscribe('channel', channel, listener);
  }

  /** Listens to all channels that match a pattern, which has one `*`. */
  listenToAll(pattern: string, listener: ChannelListener): () => void {
    return this.#subscribe('pattern', pattern, listener);
  }

  /**
   * Resolves once the channel's listeners have received everything announced before this call, or after a moment without an answer. Without
   * this wait, the answer to a later call could overtake an announcement, because the two come over different connections.
   */
  async catchUp(channel: string): Promise<void> {
    const address = this.#isSharded(channel) ? this.map!.primaryOf(hashSlot(channel)) : this.#ordinary;
    if (address !== undefined) await this.#subscribers.get(address)?.catchUp();
  }

  async close(): Promise<void> {
    this.#unwatch?.();
    this.#cancelReading?.();
    this.#cancelLeaving?.();
    await Promise.all([...this.#subscribers.values()].map((subscriber) => subscriber.close()));
  }

  #isSharded(channel: string): boolean {
    if (!this.map) return false;
    return ![...this.#subscriptions].some(({ kind, name }) => kind === 'pattern' && isMatched(channel, name));
  }

  #subscribe(kind: TopicKind, name: string, listener: ChannelListener): () => void {
    const subscription: Subscription = { kind, name, listener };
    this.#subscriptions.add(subscription);
    this.map?.connect();
    this.#follow([subscription]);
    return () => {
      this.#subscriptions.delete(subscription);
      subscription.stop?.();
      this.#retireIdle();
    };
  }

  /** Moves subscriptions to their current servers. Once a new subscription is active, its listeners look for what they missed. */
  #follow(subscriptions: Iterable<Subscription>, lost?: string): void {
    for (const subscription of subscriptions) {
      const { kind, name, listener } = subscription;
      const address = kind === 'shard' ? this.map!.primaryOf(hashSlot(name)) : this.#chooseOrdinary(lost);
      if (address === undefined || address === subscription.address) continue;
      subscription.stop?.();
      subscription.address = address;
      subscription.stop = this.#subscriberAt(address).listen(kind, name, listener);
    }
    this.#retireIdle();
  }

  #chooseOrdinary(lost: string | undefined): string | undefined {
    const { primaries } = this.map ?? { primaries: [SINGLE_SERVER] };
    const present = this.#ordinary;
    if (present !== undefined && present !== lost && primaries.includes(present)) return present;
    const others = primaries.filter((address) => address !== present);
    return (this.#ordinary = others[Math.floor(Math.random() * others.length)] ?? present);
  }

  #subscriberAt(address: string): Subscriber {
    const known = this.#subscribers.get(address);
    if (known) return known;
    const connection = new RedisConnection(
      'announcements',
      this.settings,
      this.map?.partsFor('announcements', address),
    );
    if (this.map) {
      connection.client.on('close', () => this.#onLost(address, connection));
      connection.client.on('moved', () => this.#readMap());
      connection.client.on('error', (error) => isMiscount(error) && this.#readMap());
    }
    const subscriber = new Subscriber(connection, this.settings);
    this.#subscribers.set(address, subscriber);
    return subscriber;
  }

  #onLost(address: string, connection: RedisConnection): void {
    if (connection.isClosed || connection.isResting) return;
    this.#readMap();
    if (address !== this.#ordinary) return;
    this.#cancelLeaving?.();
    this.#cancelLeaving = this.settings.clock.schedule(() => {
      if (!connection.isReady && address === this.#ordinary) this.#follow(this.#subscriptions, address);
    }, LEAVE_PAUSE);
  }

  /** Reads the cluster's map twice, because the first answer may come from a server that has not learned of the change yet. */
  #readMap(): void {
    const { map } = this;
    if (!map || map.isClosed) return;
    map.readAgain();
    this.#cancelReading ??= this.settings.clock.schedule(() => {
      this.#cancelReading = undefined;
      map.readAgain();
    }, READ_AGAIN);
  }

  /** Closes connections to cluster servers that have no listeners left. */
  #retireIdle(): void {
    if (!this.map) return;
    for (const [address, subscriber] of this.#subscribers) {
      if (!subscriber.isIdle) continue;
      this.#subscribers.delete(address);
      void subscriber.connection.retire();
      void subscriber.close();
    }
  }
}

function isMatched(channel: string, pattern: string): boolean {
  const [before, behind] = pattern.split('*') as [string, string];
  return channel.startsWith(before) && channel.endsWith(behind) && channel.length >= before.length + behind.length;
}
