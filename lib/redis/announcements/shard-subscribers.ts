import type { CancelTimer } from '../../timing/clock.js';
import type { ClusterMap } from '../cluster/cluster-map.js';
import { hashSlot } from '../cluster/hash-slot.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isMiscount } from '../redis-errors.js';
import { type ChannelListener, Subscriber, type SubscriberSettings } from './subscriber.js';

/** How long the servers of a cluster take to tell each other of a change, ms; with a margin. */
const READ_AGAIN = 1000;

interface Ear {
  readonly channel: string;
  readonly slot: number;
  readonly listener: ChannelListener;
  /** The server where it listens. */
  address?: string;
  stop?: () => void;
}

interface Post {
  readonly connection: RedisConnection;
  readonly subscriber: Subscriber;
}

/** Listens to channels of slots in a cluster: to each at the primary that has its slot, over one connection to each of these. */
export class ShardSubscribers {
  readonly #ears = new Set<Ear>();
  /** By the addresses of the servers. */
  readonly #posts = new Map<string, Post>();
  readonly #unwatch: () => void;
  #cancelReading: CancelTimer | undefined;

  constructor(
    private readonly map: ClusterMap,
    private readonly settings: SubscriberSettings,
  ) {
    this.#unwatch = map.onChange(() => this.#follow([...this.#ears]));
  }

  /** Listens until the returned function is called. */
  listen(channel: string, listener: ChannelListener): () => void {
    const ear: Ear = { channel, slot: hashSlot(channel), listener };
    this.#ears.add(ear);
    this.map.connect();
    this.#follow([ear]);
    return () => {
      this.#ears.delete(ear);
      ear.stop?.();
      this.#retireIdle();
    };
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#cancelReading?.();
    await Promise.all([...this.#posts.values()].map(({ subscriber }) => subscriber.close()));
  }

  /** Subscribes where the slots are now. Listeners look for what they missed once the new subscription is active. */
  #follow(ears: readonly Ear[]): void {
    for (const ear of ears) {
      const address = this.map.primaryOf(ear.slot);
      if (address === undefined || address === ear.address) continue;
      ear.stop?.();
      ear.address = address;
      ear.stop = this.#at(address).subscriber.listen('shard', ear.channel, ear.listener);
    }
    this.#retireIdle();
  }

  #at(address: string): Post {
    const known = this.#posts.get(address);
    if (known) return known;
    const connection = this.map.open('announcements', address);
    // Another server may take its place, or has some of its slots.
    for (const event of ['close', 'moved']) connection.client.on(event, () => this.#readMap());
    connection.client.on('error', (error) => isMiscount(error) && this.#readMap());
    const subscriber = new Subscriber((onClient) => {
      onClient(connection.client);
      return connection;
    }, this.settings);
    const post = { connection, subscriber };
    this.#posts.set(address, post);
    return post;
  }

  /** Twice, because the first answer may come from a server that does not know yet. */
  #readMap(): void {
    if (this.map.isClosed) return;
    this.map.readAgain();
    this.#cancelReading ??= this.settings.clock.schedule(() => {
      this.#cancelReading = undefined;
      this.map.readAgain();
    }, READ_AGAIN);
  }

  #retireIdle(): void {
    for (const [address, { connection, subscriber }] of this.#posts) {
      if (!subscriber.isIdle) continue;
      this.#posts.delete(address);
      void connection.retire();
      void subscriber.close();
    }
  }
}
