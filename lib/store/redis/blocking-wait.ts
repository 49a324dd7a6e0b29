import type { Doorbell } from '../message-flow.js';
import type { RedisClient } from './redis-client.js';
import { RedisConnection, type ConnectionSettings } from './redis-connection.js';
import { explain } from './redis-errors.js';

/** How long after its timeout a blocked call may answer before the connection counts as dead. */
const ANSWER_GRACE = 5000;

/** A command that blocks until a list is not empty; null when its time is over. */
export interface BlockingCommand {
  readonly name: string;
  /** @param seconds - how long the server blocks */
  send(client: RedisClient, seconds: number): Promise<unknown>;
}

/**
 * Waits at a list of tokens. Only a token is ever popped, never a message: what a crashed or half-open client has popped is
 * lost, and a token is soon replaced.
 */
export const popToken = (key: string): BlockingCommand => ({
  name: 'BLPOP',
  send: (client, seconds) => client.blpop(key, seconds),
});

/** Waits until a list is not empty, and leaves it as it is: the first element is moved to where it was. */
export const awaitElement = (key: string): BlockingCommand => ({
  name: 'BLMOVE',
  send: (client, seconds) => client.blmove(key, key, 'LEFT', 'LEFT', seconds),
});

/**
 * Waits with a blocking command, on a connection of its own.
 *
 * The timeout is also kept on this side, because a server whose clock is set back lets a blocked client wait for longer.
 */
export class BlockingWait implements Doorbell {
  readonly #connection: RedisConnection;

  constructor(
    private readonly command: BlockingCommand,
    settings: ConnectionSettings,
  ) {
    this.#connection = new RedisConnection('doorbell', settings);
  }

  async wait(timeout: number): Promise<boolean> {
    const { name } = this.command;
    try {
      await this.#connection.ready(name, timeout);
      const answer = this.command.send(this.#connection.client, timeout / 1000);
      return (await this.#connection.answer(answer, timeout + ANSWER_GRACE)) !== null;
    } catch (error) {
      if (this.#connection.isClosed) return false;
      throw explain(name, error);
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
