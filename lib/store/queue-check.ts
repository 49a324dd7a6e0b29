import type { RedisServers } from '../redis/commands/redis-server.js';

/** A check that these stores can serve this process's queues, which must succeed once. */
export class QueueCheck {
  #isDone = false;

  /** @param check - throws `INVALID_OPTION` if they cannot, and other errors if it could not be made */
  constructor(private readonly check: () => Promise<void>) {}

  async run(): Promise<void> {
    await this.check();
    this.#isDone = true;
  }

  /** Runs the check whenever a server is connected, until it has succeeded. @param onFailed - called with the error of a failed check */
  catchUp(servers: RedisServers, onFailed: (error: unknown) => void): void {
    servers.onReady(() => {
      if (!this.#isDone) this.run().catch(onFailed);
    });
  }
}
