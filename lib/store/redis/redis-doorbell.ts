import type { Doorbell } from '../message-store.js';
import { RedisConnection, type ConnectionSettings } from './redis-connection.js';
import { explain } from './redis-errors.js';

/** How long after its timeout a blocked call may answer before the connection counts as dead. */
const ANSWER_GRACE = 5000;

/**
 * Waits at a list of tokens with BLPOP. Only a token is ever popped, never a message: what a crashed or half-open client
 * has popped is lost, and a token is soon replaced.
 *
 * The timeout is also kept on this side, because a server whose clock is set back lets a blocked client wait for longer.
 */
export class RedisDoorbell implements Doorbell {
  readonly #connection: RedisConnection;

  constructor(
    private readonly key: string,
    settings: ConnectionSettings,
  ) {
    this.#connection = new RedisConnection('doorbell', settings);
  }

  async wait(timeout: number): Promise<boolean> {
    try {
      await this.#connection.ready('BLPOP', timeout);
      const popped = this.#connection.client.blpop(this.key, timeout / 1000);
      return (await this.#connection.answer(popped, timeout + ANSWER_GRACE)) !== null;
    } catch (error) {
      if (this.#connection.isClosed) return false;
      throw explain('BLPOP', error);
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
