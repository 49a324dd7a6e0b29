import type { ShardSubscribers } from './shard-subscribers.js';
import type { ChannelListener, Subscriber } from './subscriber.js';

/**
 * Listens to announcements, for all queues of a process.
 *
 * In a cluster, `PUBLISH` goes to all servers. Announcements stay with the primary that has the queue (`SPUBLISH`), unless nobody
 * hears them there; then they are published to all, because patterns hear nothing else. So this process subscribes in the ordinary way
 * to a channel that one of its patterns matches: otherwise nothing would reach the patterns of other processes.
 *
 * The databases of a server share its channels, so announcements name the database that they belong to.
 */
export class RedisAnnouncements {
  readonly #patterns = new Set<string>();

  /**
   * @param numberOfDatabase - reads the number of the database that the commands of this process go to
   * @param shards - for the channels of queues, in a cluster
   */
  constructor(
    private readonly subscriber: Subscriber,
    private readonly numberOfDatabase: () => number,
    private readonly shards?: ShardSubscribers,
  ) {}

  /** The word for the database of this process in announcements. */
  get database(): string {
    return String(this.numberOfDatabase());
  }

  /** The argument `database` of scripts that announce; it also tells them which command to use. */
  get databaseArgument(): string {
    return this.shards ? 'cluster' : this.database;
  }

  /** The command that announces. */
  get command(): 'PUBLISH' | 'SPUBLISH' {
    return this.shards ? 'SPUBLISH' : 'PUBLISH';
  }

  /** Listens to what scripts announce on the channel of a queue, until the returned function is called. */
  listen(channel: string, listener: ChannelListener): () => void {
    if (!this.shards || this.#isMatched(channel)) return this.listenToAny(channel, listener);
    return this.shards.listen(channel, listener);
  }

  /**
   * Resolves once the listeners of a queue's channel have heard what was announced before this call, or after a moment without an
   * answer. An announcement and the answer to a later call come over different connections, so the answer may overtake it.
   */
  catchUp(channel: string): Promise<void> {
    if (!this.shards || this.#isMatched(channel)) return this.subscriber.catchUp();
    return this.shards.catchUp(channel);
  }

  /** Listens to what anybody publishes on a channel with `PUBLISH`. */
  listenToAny(channel: string, listener: ChannelListener): () => void {
    return this.subscriber.listen('channel', channel, listener);
  }

  /** Listens to all channels that match a pattern, which has one `*`. */
  listenToAll(pattern: string, listener: ChannelListener): () => void {
    this.#patterns.add(pattern);
    const stop = this.subscriber.listen('pattern', pattern, listener);
    return () => {
      this.#patterns.delete(pattern);
      stop();
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.subscriber.close(), this.shards?.close()]);
  }

  #isMatched(channel: string): boolean {
    return [...this.#patterns].some((pattern) => {
      const [before, behind] = pattern.split('*') as [string, string];
      return channel.startsWith(before) && channel.endsWith(behind) && channel.length >= before.length + behind.length;
    });
  }
}
