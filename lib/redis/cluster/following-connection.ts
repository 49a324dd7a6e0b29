import { connectionFailures, FailureStreak } from '../../events/failure-streak.js';
import type { CancelTimer } from '../../timing/clock.js';
import type { ConnectionRole, RedisClient } from '../connection/redis-client.js';
import { type Connection, type ConnectionSettings, RedisConnection } from '../connection/redis-connection.js';
import { closed } from '../redis-errors.js';
import type { ClusterMap } from './cluster-map.js';

/** How long a lost connection may take to come back before another server is chosen, ms. */
const LEAVE_PAUSE = 250;

export interface FollowingOptions {
  readonly role: ConnectionRole;
  readonly map: ClusterMap;
  /**
   * Chooses the server to connect to, by its address; undefined if none is known.
   *
   * @param present - the server that the connection leads to
   * @param isLost - whether that connection is lost
   */
  readonly choose: (present: string | undefined, isLost: boolean) => string | undefined;
  /** Called for each new client, not connected yet. */
  readonly onClient?: (client: RedisClient) => void;
}

/** A connection to whichever server of a cluster is the right one. When that becomes another server, it reconnects there. */
export class FollowingConnection implements Connection {
  readonly #options: FollowingOptions;
  readonly #settings: ConnectionSettings;
  readonly #outage: FailureStreak;
  readonly #unwatch: () => void;
  #present: { readonly address: string; readonly connection: RedisConnection } | undefined;
  #cancelLeaving: CancelTimer | undefined;
  #closed = false;

  constructor(options: FollowingOptions, settings: ConnectionSettings) {
    this.#options = options;
    this.#settings = settings;
    this.#outage = new FailureStreak(settings.clock, connectionFailures(settings.events, options.role));
    this.#unwatch = options.map.onChange(() => this.#follow());
  }

  get client(): RedisClient {
    return this.#present!.connection.client;
  }

  get isReady(): boolean {
    return this.#present?.connection.isReady ?? false;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  connect(): void {
    this.#options.map.connect();
    this.#follow();
  }

  ready(command: string, timeout = this.#settings.commandTimeout): Promise<void> {
    const find = () => {
      if (this.#closed) throw closed(command);
      return this.#follow();
    };
    return this.#options.map.ready(find, command, timeout);
  }

  answer<Answer>(answer: Promise<Answer>, patience?: number): Promise<Answer> {
    return this.#present!.connection.answer(answer, patience);
  }

  isElsewhere(error: unknown): boolean {
    return this.#present?.connection.isElsewhere(error) ?? false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unwatch();
    this.#cancelLeaving?.();
    await this.#present?.connection.close();
  }

  #follow(isLost = false): RedisConnection | undefined {
    const present = this.#present;
    if (this.#closed) return present?.connection;
    const address = this.#options.choose(present?.address, isLost);
    if (address === undefined || address === present?.address) return present?.connection;
    this.#cancelLeaving?.();
    void present?.connection.close();
    return this.#open(address);
  }

  #open(address: string): RedisConnection {
    const { role, map, onClient } = this.#options;
    const parts = { ...map.partsFor(role, address), outage: this.#outage };
    const connection = new RedisConnection(role, this.#settings, parts);
    this.#present = { address, connection };
    connection.client.on('close', () => this.#onLost(connection));
    onClient?.(connection.client);
    connection.connect();
    return connection;
  }

  #onLost(connection: RedisConnection): void {
    if (this.#closed || this.#present?.connection !== connection || connection.isResting) return;
    this.#options.map.readAgain();
    this.#cancelLeaving?.();
    this.#cancelLeaving = this.#settings.clock.schedule(() => {
      if (!connection.isReady) this.#follow(true);
    }, LEAVE_PAUSE);
  }
}
