import type { Reach } from '../connection/redis-connection.js';
import type { RedisServer } from './redis-server.js';

/** How to send a call again after an error reply that says that nothing was done here. */
export interface Detour {
  /** How long to wait first, ms. */
  readonly pause: number;
  /** The server to ask this once, because the key is on its way there. */
  readonly asking?: RedisServer;
}

/** The servers that hold the keys: a single one, or the primaries of a cluster. */
export interface RedisServers {
  /** Opens connections in the background. */
  connect(): void;
  /** The server that has a key, or any if there is none; undefined if that is not known yet. Its connection may not be ready. */
  of(key: string | undefined): RedisServer | undefined;
  /** What is known about the way to the server that has the keys of a slot. */
  reachOf(slot: number): Reach;
  /**
   * Waits until {@link of} returns a server that can be sent to.
   *
   * @param command - the command that is to be sent, for the error
   * @throws DelayQueueError `NOT_CONNECTED` after `timeout` ms, `LOGIN_REFUSED`, `CLOSED`
   */
  ready(command: string, key: string | undefined, timeout?: number): Promise<void>;
  /** All of them. @throws like {@link ready} */
  all(command: string): Promise<readonly RedisServer[]>;
  /** The way around an error; undefined if there is none, so that the call has failed. */
  detour(error: unknown): Detour | undefined;
  /** Calls `listener` whenever the connection to a server becomes ready. */
  onReady(listener: (server: RedisServer) => void): void;
  /** From now on no command waits for a connection. */
  hurry(): void;
  /** Whether there is a connection to any of them. */
  readonly isConnected: boolean;
  readonly isClosed: boolean;
  close(): Promise<void>;
}

/** A server that has all keys. */
export class SingleServer implements RedisServers {
  constructor(private readonly server: RedisServer) {}

  connect(): void {
    this.server.connection.connect();
  }

  of(): RedisServer {
    return this.server;
  }

  reachOf(): Reach {
    return this.server.connection.reach;
  }

  ready(command: string, _key: string | undefined, timeout?: number): Promise<void> {
    return this.server.connection.ready(command, timeout);
  }

  async all(command: string): Promise<readonly RedisServer[]> {
    await this.server.connection.ready(command);
    return [this.server];
  }

  detour(): undefined {
    return undefined;
  }

  onReady(listener: (server: RedisServer) => void): void {
    this.server.connection.client.on('ready', () => listener(this.server));
  }

  hurry(): void {
    this.server.connection.hurry();
  }

  get isConnected(): boolean {
    return this.server.connection.isReady;
  }

  get isClosed(): boolean {
    return this.server.connection.isClosed;
  }

  close(): Promise<void> {
    return this.server.connection.close();
  }
}
