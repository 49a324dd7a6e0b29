import type { CancelTimer } from '../../timing/clock.js';
import type { ClusterMap } from '../cluster/cluster-map.js';
import { hashSlot } from '../cluster/hash-slot.js';
import { RedisConnection } from '../connection/redis-connection.js';
import { isMiscount } from '../redis-errors.js';
import { type ChannelListener, Subscriber, type SubscriberSettings } from './subscriber.js';

/** How long the servers of a cluster take to tell each other of a change, ms; with a margin. */
const READ_AGAIN = 1000;

interface Subscription {
  readonly channel: string;
  readonly slot: number;
  readonly listener: ChannelListener;
  /** The server where it is now, and what ends it there. */
  address?: string;
  stop?: () => void;
}

/** What listens at one primary. */
interface ShardSubscriber {
  readonly connection: RedisConnection;
  readonly subscriber: Subscriber;
}

/** Listens to sharded channels of a cluster: to each at the primary that has its slot, over one connection to each primary. */
export class ShardSubscribers {
  readonly #subscriptions = new Set<Subscription>();
  /** By the addresses of the servers. */
  readonly #subscribers = new Map<string, ShardSubscriber>();
  readonly #unwatch: () => void;
  #cancelReading: CancelTimer | undefined;

  constructor(
    private readonly map: ClusterMap,
    private readonly settings: SubscriberSettings,
  ) {
    this.#unwatch = map.onChange(() => this.#follow([...this.#subscriptions]));
  }

  /** Listens until the returned function is called. */
  listen(channel: string, listener: ChannelListener): () => void {
    const subscription: Subscription = { channel, slot: hashSlot(channel), listener };
    this.#subscriptions.add(subscription);
    this.map.connect();
    this.#follow([subscription]);
    return () => {
      this.#subscriptions.delete(subscription);
      subscription.stop?.();
      this.#retireIdle();
    };
  }

  /** As {@link Subscriber.catchUp}, of the server that has a channel. */
  async catchUp(channel: string): Promise<void> {
    await this.#subscribers.get(this.map.primaryOf(hashSlot(channel)) ?? '')?.subscriber.catchUp();
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#cancelReading?.();
    await Promise.all([...this.#subscribers.values()].map(({ subscriber }) => subscriber.close()));
  }

  /** Subscribes where the slots are now. Listeners look for what they missed once the new subscription is active. */
  #follow(subscriptions: readonly Subscription[]): void {
    for (const subscription of subscriptions) {
      const address = this.map.primaryOf(subscription.slot);
      if (address === undefined || address === subscription.address) continue;
      const { channel, listener } = subscription;
      subscription.stop?.();
      subscription.address = address;
      subscription.stop = this.#subscriberAt(address).listen('shard', channel, listener);
    }
    this.#retireIdle();
  }

  #subscriberAt(address: string): Subscriber {
    const known = this.#subscribers.get(address);
    if (known) return known.subscriber;
    const connection = new RedisConnection('announcements', this.settings, this.map.partsFor('announcements', address));
    // Another server may take its place, or may have some of its slots.
    for (const event of ['close', 'moved']) connection.client.on(event, () => this.#readMap());
    connection.client.on('error', (error) => isMiscount(error) && this.#readMap());
    const subscriber = new Subscriber((onClient) => {
      onClient(connection.client);
      return connection;
    }, this.settings);
    this.#subscribers.set(address, { connection, subscriber });
    return subscriber;
  }

  /** Twice, because the first answer may come from a server that does not know about the change yet. */
  #readMap(): void {
    if (this.map.isClosed) return;
    this.map.readAgain();
    this.#cancelReading ??= this.settings.clock.schedule(() => {
      this.#cancelReading = undefined;
      this.map.readAgain();
    }, READ_AGAIN);
  }

  #retireIdle(): void {
    for (const [address, { connection, subscriber }] of this.#subscribers) {
      if (!subscriber.isIdle) continue;
      this.#subscribers.delete(address);
      void connection.retire();
      void subscriber.close();
    }
  }
}
