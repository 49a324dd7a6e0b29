import type { Redis } from 'ioredis';
import { isErrorReply } from '../redis-errors.js';

/** Ends a client's blocked call. @returns whether there was one */
export type Unblock = (clientId: number) => Promise<boolean>;

export interface UnblockerOptions {
  /** Whose calls are ended. */
  readonly client: Redis;
  /** Sends `CLIENT UNBLOCK` over another connection. */
  readonly unblock: Unblock;
  /** Called if the server does not tell a client its id. */
  readonly onRefused: () => void;
}

/** Ends the blocked calls of one client. */
export class Unblocker {
  readonly #options: UnblockerOptions;
  #clientId: Promise<number | undefined> | undefined;

  constructor(options: UnblockerOptions) {
    this.#options = options;
    options.client.on('close', () => (this.#clientId = undefined));
  }

  /** Asks for the client's id, ahead of the call that may have to be ended. */
  prepare(): void {
    this.#clientId ??= this.#askClientId();
  }

  /**
   * @returns whether a call was blocked; it may not have arrived yet
   * @throws the server's error if it refuses to end calls
   */
  async unblock(): Promise<boolean> {
    const clientId = await this.#clientId;
    if (clientId === undefined) return false;
    try {
      return await this.#options.unblock(clientId);
    } catch (error) {
      if (isRefusal((error as Error).cause)) throw error;
      return false;
    }
  }

  async #askClientId(): Promise<number | undefined> {
    const { client, onRefused } = this.#options;
    try {
      return await client.client('ID');
    } catch (error) {
      if (isRefusal(error)) onRefused();
      this.#clientId = undefined;
      return undefined;
    }
  }
}

/** Unlike an error that may pass, such as `BUSY` or `LOADING`. */
const isRefusal = (error: unknown) => isErrorReply(error) && /^(NOPERM|ERR)\b/.test(error.message);
