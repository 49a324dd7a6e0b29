import { ANSWER_GRACE, type Connection, explain } from 'nestjs-delay-queue/layouts';

/**
 * Waits until a list is not empty, on a connection of its own, and leaves the list unchanged: its first element is moved to its own place.
 * The timeout is also enforced on this side, because a server whose clock is set back keeps a blocked client waiting longer.
 */
export class ListWatch {
  constructor(
    private readonly key: string,
    private readonly connection: Connection,
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
      // The caller finds what came meanwhile when it looks.
      if (connection.isElsewhere(error)) return true;
      throw explain('BLMOVE', error);
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
