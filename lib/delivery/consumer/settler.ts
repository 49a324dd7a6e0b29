import type { Events } from '../../events/events.js';
import { FailureStreak, workFailures } from '../../events/failure-streak.js';
import type { Clock } from '../../timing/clock.js';
import { failurePause } from '../../timing/failure-pause.js';
import { Pauses } from '../../timing/pauses.js';
import type { MessageFlow, Outcome, Settlement } from '../../store/message-flow.js';
import { MAX_BATCH, TurnBatcher } from '../../timing/turn-batcher.js';
import type { HeldDelivery } from './delivery.js';
import { hasCode } from '../../message/failure.js';

/** `accepted`: the outcome counts. `refused`: the claim was no longer held. `given-up`: the process stopped before an answer. */
export type SettleResult = 'accepted' | 'refused' | 'given-up';

export interface SettlerOptions {
  readonly queue: string;
  readonly store: Pick<MessageFlow, 'settle'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Called once for each outcome, when its result is known. */
  readonly onSettled: (settled: Settled, result: SettleResult) => void;
}

/** An outcome with its delivery. */
export interface Settled extends Settlement {
  readonly held: HeldDelivery;
}

const MAX_BATCH_BYTES = 1024 * 1024;

/**
 * Sends outcomes to the store: those of one turn in one call, repeated until the store answers. Repeating is safe, because an
 * outcome that already counts, or can no longer count, changes nothing.
 */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #batcher: TurnBatcher<Settled>;
  readonly #streak: FailureStreak;
  readonly #pauses: Pauses;
  #stopped = false;

  constructor(options: SettlerOptions) {
    this.#options = options;
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'settle', queue));
    this.#pauses = new Pauses(clock);
    this.#batcher = new TurnBatcher({
      send: (batch) => void this.#settleAll(batch),
      maxItems: MAX_BATCH,
      maxWeight: MAX_BATCH_BYTES,
      weigh: ({ outcome }) => 100 + detailBytes(outcome),
    });
  }

  settle(held: HeldDelivery, outcome: Outcome): void {
    this.#batcher.add({ held, claim: held, outcome });
  }

  /** Sends the pending outcomes without waiting for the end of the turn. */
  flush(): void {
    this.#batcher.flush();
  }

  /** From now on, no failed call is repeated. */
  stop(): void {
    this.#stopped = true;
    this.#pauses.end();
  }

  async #settleAll(batch: readonly Settled[]): Promise<void> {
    const results = await this.#sendUntilAnswered(batch);
    batch.forEach((settled, i) => this.#options.onSettled(settled, results[i]!));
  }

  async #sendUntilAnswered(batch: readonly Settlement[]): Promise<SettleResult[]> {
    const { store, events, queue } = this.#options;
    let mayHaveHappened = false;
    for (let failures = 1; ; failures++) {
      try {
        const { accepted, dropped } = await store.settle(batch);
        this.#streak.worked();
        if (dropped > 0) events.emit('dead-letters-dropped', { queue, count: dropped });
        // After a call whose answer got lost, a refusal most likely means that this very outcome already counts.
        return accepted.map((counts) => (counts || mayHaveHappened ? 'accepted' : 'refused'));
      } catch (error) {
        if (this.#stopped || hasCode(error, 'CLOSED')) return batch.map(() => 'given-up');
        mayHaveHappened ||= hasCode(error, 'OUTCOME_UNKNOWN');
        this.#streak.callFailed(error);
        await this.#pauses.take(failurePause(failures));
      }
    }
  }
}

function detailBytes(outcome: Outcome): number {
  if (outcome.kind === 'dead') return outcome.error.length;
  return outcome.kind === 'again' ? (outcome.body?.length ?? 0) : 0;
}
