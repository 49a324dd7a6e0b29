import { connectionFailures, FailureStreak } from '../../events/failure-streak.js';
import type { ConnectionRole, RedisClient } from '../connection/redis-client.js';
import { type Connection, type ConnectionSettings, RedisConnection } from '../connection/redis-connection.js';
import { closed } from '../redis-errors.js';
import type { ClusterMap } from './cluster-map.js';
import { hashSlot } from './hash-slot.js';

/** A connection to the cluster server that has a key. Reconnects when the key moves to another server. */
export class KeyConnection implements Connection {
  readonly #hashSlot: number;
  readonly #outage: FailureStreak;
  readonly #unwatch: () => void;
  #address: string | undefined;
  #connection: RedisConnection | undefined;
  #isClosed = false;

  constructor(
    key: string,
    private readonly role: ConnectionRole,
    private readonly map: ClusterMap,
    private readonly settings: ConnectionSettings,
  ) {
    this.#hashSlot = hashSlot(key);
    this.#outage = new FailureStreak(settings.clock, connectionFailures(settings.events, role));
    this.#unwatch = map.onChange(() => this.#follow());
  }

  /** Available once the connection has been ready. */
  get client(): RedisClient {
    return this.#connection!.client;
  }

  get isReady(): boolean {
    return this.#connection?.isReady ?? false;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  connect(): void {
    this.map.connect();
    this.#follow();
  }

  ready(command: string, timeout = this.settings.commandTimeout): Promise<void> {
    const find = () => {
      if (this.#isClosed) throw closed(command);
      return this.#follow();
    };
    return this.map.ready(find, command, timeout);
  }

  answer<Answer>(answer: Promise<Answer>, patience?: number): Promise<Answer> {
    return this.#connection!.answer(answer, patience);
  }

  isElsewhere(error: unknown): boolean {
    return this.#connection?.isElsewhere(error) ?? false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unwatch();
    await this.#connection?.close();
  }

  #follow(): RedisConnection | undefined {
    const address = this.map.primaryOf(this.#hashSlot);
    if (this.#isClosed || address === undefined || address === this.#address) return this.#connection;
    void this.#connection?.close();
    const parts = { ...this.map.partsFor(this.role, address), outage: this.#outage };
    const connection = new RedisConnection(this.role, this.settings, parts);
    this.#address = address;
    this.#connection = connection;
    // Another server may have the key now.
    connection.client.on('close', () => connection.isClosed || connection.isResting || this.map.readAgain());
    connection.connect();
    return connection;
  }
}
