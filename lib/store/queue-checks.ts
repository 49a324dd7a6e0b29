import type { RedisServers } from '../redis/commands/redis-server.js';
import type { Clock } from '../timing/clock.js';
import { allInSlices } from '../timing/event-loop.js';

/** Checks, once, that these stores can serve this process's queues. */
export class QueueChecks {
  #isDone = false;

  constructor(
    private readonly checks: readonly (() => Promise<void>)[],
    private readonly clock: Clock,
  ) {}

  /** @throws DelayQueueError `INVALID_OPTION`; other codes if the checks could not be made */
  async run(): Promise<void> {
    await allInSlices(this.checks, this.clock, (check) => check());
    this.#isDone = true;
  }

  /** Runs the checks once connected, unless they have already run. @param onFailed - called with the error of a failed check */
  catchUp(servers: RedisServers, onFailed: (error: unknown) => void): void {
    servers.onReady(() => {
      if (!this.#isDone) this.run().catch(onFailed);
    });
  }
}
