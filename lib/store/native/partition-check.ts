import type { Events } from '../../events/events.js';
import { hasCode, showFailure } from '../../message/failure.js';
import type { RedisCommands } from '../redis/redis-commands.js';
import type { PartitionAgreement } from './partition-agreement.js';

/** Makes sure once that queues have as many partitions as this process is configured with. */
export class PartitionCheck {
  readonly #agreements: readonly PartitionAgreement[];
  #isDone = false;

  constructor(agreements: readonly PartitionAgreement[]) {
    this.#agreements = agreements;
  }

  /**
   * Checks now.
   *
   * @throws DelayQueueError `INVALID_OPTION`; others if the check could not run
   */
  async run(): Promise<void> {
    await Promise.all(this.#agreements.map((agreement) => agreement.agree()));
    this.#isDone = true;
  }

  /** Checks when there is a connection, unless that is done; a problem is only logged. */
  catchUp(commands: RedisCommands, events: Events): void {
    commands.onReady(() => {
      if (this.#isDone) return;
      this.run().catch(
        (error: unknown) =>
          hasCode(error, 'INVALID_OPTION') && events.emit('server-unfit', { reason: showFailure(error) }),
      );
    });
  }
}
