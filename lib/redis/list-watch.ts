import type { Wire } from './redis-connection.js';
import { explain } from './redis-errors.js';

/** How long after its timeout a blocked call may answer before the connection counts as dead. */
export const ANSWER_GRACE = 5000;

/**
 * Waits until a list is not empty, on a connection of its own, and leaves the list unchanged: its first element is moved to its
 * own place.
 *
 * The timeout is also enforced on this side, because a server whose clock is set back keeps a blocked client waiting longer.
 */
export class ListWatch {
  constructor(
    private readonly key: string,
    private readonly connection: Wire,
  ) {}

  /** @returns false if the list was empty for `timeout` ms, or the watch is closed */
  async wait(timeout: number): Promise<boolean> {
    const { key, connection } = this;
    try {
      await connection.ready('BLMOVE', timeout);
      const answer = connection.client.blmove(key, key, 'LEFT', 'LEFT', timeout / 1000);
      return (await connection.answer(answer, timeout + ANSWER_GRACE)) !== null;
    } catch (error) {
      if (connection.isClosed) return false;
      // What came meanwhile is found by looking.
      if (connection.isElsewhere(error)) return true;
      throw explain('BLMOVE', error);
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
