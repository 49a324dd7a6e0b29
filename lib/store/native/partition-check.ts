import type { Events } from '../../events/events.js';
import { hasCode, showFailure } from '../../message/failure.js';
import type { Clock } from '../../timing/clock.js';
import { allInSlices } from '../../timing/slices.js';
import type { Partitions } from '../partitioned/partitions.js';
import type { RedisServers } from '../../redis/redis-servers.js';

/** Agrees once on how many partitions the queues of this process have. */
export class PartitionCheck {
  readonly #queues: readonly Pick<Partitions, 'agree'>[];
  #isDone = false;

  constructor(
    queues: readonly Pick<Partitions, 'agree'>[],
    private readonly clock: Clock,
  ) {
    this.#queues = queues;
  }

  /**
   * Agrees now.
   *
   * @throws DelayQueueError `INVALID_OPTION`; others if it was not possible
   */
  async run(): Promise<void> {
    await allInSlices(this.#queues, this.clock, (partitions) => partitions.agree());
    this.#isDone = true;
  }

  /** Agrees when there is a connection, unless that is done; a problem is only logged. */
  catchUp(servers: RedisServers, events: Events): void {
    servers.onReady(() => {
      if (this.#isDone) return;
      this.run().catch(
        (error: unknown) =>
          hasCode(error, 'INVALID_OPTION') && events.emit('server-unfit', { reason: showFailure(error) }),
      );
    });
  }
}
