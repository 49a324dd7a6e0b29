import type { Doorbell } from '../message-flow.js';
import type { RedisClient } from './redis-client.js';
import type { Wire } from './redis-connection.js';
import { explain } from './redis-errors.js';

/** How long after its timeout a blocked call may answer before the connection counts as dead. */
const ANSWER_GRACE = 5000;

/** A command that blocks until a list is not empty. It answers null when its time is up. */
export interface BlockingCommand {
  readonly name: string;
  readonly key: string;
  /** @param seconds - how long the server blocks at most */
  send(client: RedisClient, seconds: number): Promise<unknown>;
}

/**
 * Waits at a list of tokens. It pops only tokens, never messages: whatever a crashed or half-open client pops is lost, and a
 * token is soon replaced.
 */
export const popToken = (key: string): BlockingCommand => ({
  name: 'BLPOP',
  key,
  send: (client, seconds) => client.blpop(key, seconds),
});

/** Waits until a list is not empty, and leaves it unchanged: the first element is moved to its own place. */
export const awaitElement = (key: string): BlockingCommand => ({
  name: 'BLMOVE',
  key,
  send: (client, seconds) => client.blmove(key, key, 'LEFT', 'LEFT', seconds),
});

/**
 * Waits with a blocking command, on a connection of its own.
 *
 * The timeout is also enforced on this side, because a server whose clock is set back keeps a blocked client waiting longer.
 */
export class BlockingWait implements Doorbell {
  constructor(
    private readonly command: BlockingCommand,
    private readonly connection: Wire,
  ) {}

  async wait(timeout: number): Promise<boolean> {
    const { name } = this.command;
    try {
      await this.connection.ready(name, timeout);
      const answer = this.command.send(this.connection.client, timeout / 1000);
      return (await this.connection.answer(answer, timeout + ANSWER_GRACE)) !== null;
    } catch (error) {
      if (this.connection.isClosed) return false;
      // What was rung for meanwhile is found by looking.
      if (this.connection.isElsewhere(error)) return true;
      throw explain(name, error);
    }
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
