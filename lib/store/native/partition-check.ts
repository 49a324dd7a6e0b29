import type { Events } from '../../events/events.js';
import { hasCode, showFailure } from '../../message/failure.js';
import type { RedisServers } from '../../redis/commands/redis-server.js';
import type { Clock } from '../../timing/clock.js';
import { allInSlices } from '../../timing/slices.js';
import type { Partitions } from '../partitioned/partitions.js';

/** Agrees once on how many partitions the queues of this process have. */
export class PartitionCheck {
  #isDone = false;

  constructor(
    private readonly queues: readonly Pick<Partitions, 'agree'>[],
    private readonly clock: Clock,
  ) {}

  /**
   * Agrees now.
   *
   * @throws DelayQueueError `INVALID_OPTION`; others if it was not possible
   */
  async run(): Promise<void> {
    await allInSlices(this.queues, this.clock, (partitions) => partitions.agree());
    this.#isDone = true;
  }

  /** Agrees when there is a connection, unless that is done; a problem is only logged. */
  catchUp(servers: RedisServers, events: Events): void {
    const tell = (error: unknown) =>
      hasCode(error, 'INVALID_OPTION') && events.emit('server-unfit', { reason: showFailure(error) });
    servers.onReady(() => {
      if (!this.#isDone) this.run().catch(tell);
    });
  }
}
