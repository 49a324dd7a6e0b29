import { ANSWER_GRACE, type Wire } from '../redis/connection/wire.js';
import { explain } from '../redis/redis-errors.js';

/**
 * Waits until a list is not empty, on a connection of its own, and leaves the list unchanged: its first element is moved to its
 * own place.
 *
 * The timeout is also enforced on this side, because a server whose clock is set back keeps a blocked client waiting longer.
 */
export class ListWatch {
  constructor(
    private readonly key: string,
    private readonly wire: Wire,
  ) {}

  /** @returns false if the list was empty for `timeout` ms, or the watch is closed */
  async wait(timeout: number): Promise<boolean> {
    const { key, wire } = this;
    try {
      await wire.ready('BLMOVE', timeout);
      const answer = wire.client.blmove(key, key, 'LEFT', 'LEFT', timeout / 1000);
      return (await wire.answer(answer, timeout + ANSWER_GRACE)) !== null;
    } catch (error) {
      if (wire.isClosed) return false;
      // The caller finds what came in the meantime when it looks.
      if (wire.isElsewhere(error)) return true;
      throw explain('BLMOVE', error);
    }
  }

  close(): Promise<void> {
    return this.wire.close();
  }
}
