import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { againWatch } from '../message/again-watch.js';
import { hasCode } from '../message/failure.js';
import type { MessageFailure } from '../message/message.js';
import type { ConsumerStore, Outcome, Settlement } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import { Pauses } from '../timing/pauses.js';
import { MAX_BATCH, TurnBatcher } from '../timing/turn-batcher.js';
import type { Delivery } from './delivery.js';

/** `accepted`: the outcome counts. `refused`: the claim was no longer held. `given-up`: the process stopped before an answer. */
type SettleResult = 'accepted' | 'refused' | 'given-up';

export interface SettlerOptions {
  readonly queue: string;
  readonly store: Pick<ConsumerStore, 'settle' | 'catchUp'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Called once for each message, when there is nothing more to do for it. */
  readonly onSettled: (delivery: Delivery) => void;
}

/** The outcome of a delivery. */
interface DeliverySettlement extends Settlement {
  readonly claim: Delivery;
}

const MAX_BATCH_BYTES = 1024 * 1024;

/** The event for each kind of accepted outcome; a message that was released is nobody's news. */
const EVENT_OF = { ack: 'handled', retry: 'retried', defer: 'deferred', again: 'again', dead: 'dead' } as const;

/**
 * Sends outcomes to the store: those of one turn in one call, repeated until the store answers. Repeating is safe, because an
 * outcome that already counts, or can no longer count, changes nothing. Then it tells what has become of the messages.
 */
export class Settler {
  readonly #batcher: TurnBatcher<DeliverySettlement>;
  readonly #streak: FailureStreak;
  readonly #pauses: Pauses;
  #stopped = false;

  constructor(private readonly options: SettlerOptions) {
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

  settle(delivery: Delivery, outcome: Outcome): void {
    this.#batcher.add({ claim: delivery, outcome });
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

  async #settleAll(batch: readonly DeliverySettlement[]): Promise<void> {
    const results = await this.#sendUntilAnswered(batch);
    // The announcement of an abort may still be on its way.
    if (batch.some(({ claim }, i) => results[i] === 'refused' && !claim.isLost)) await this.options.store.catchUp?.();
    for (let i = 0; i < batch.length; i++) {
      const { claim, outcome } = batch[i]!;
      this.#tell(claim, outcome, results[i]!);
      if (againWatch.isWatching) this.#tellAgainInVain(claim, outcome, results[i]!);
      this.options.onSettled(claim);
    }
  }

  async #sendUntilAnswered(batch: readonly DeliverySettlement[]): Promise<SettleResult[]> {
    const { store, events, queue } = this.options;
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

  #tell(delivery: Delivery, outcome: Outcome, result: SettleResult): void {
    if (outcome.kind === 'release' || delivery.isAborted) return;
    const { events } = this.options;
    const { queue, id, type, attempt } = delivery;
    if (result === 'refused') events.emit('lease-lost', { queue, id });
    if (result === 'accepted' && 'lateBy' in outcome) return this.#tellExpired(delivery, outcome);
    const name = EVENT_OF[outcome.kind];
    if (result !== 'accepted' || !events.has(name)) return;
    const attempted = { queue, id, type, attempt };
    if (outcome.kind !== 'dead') return events.emit(EVENT_OF[outcome.kind], attempted);
    const failure = JSON.parse(outcome.error) as MessageFailure;
    events.emit('dead', { ...attempted, id: outcome.next?.letter ?? id, by: outcome.by ?? 'handler', failure });
  }

  #tellExpired({ queue, id, type, attempt }: Delivery, outcome: Extract<Outcome, { readonly lateBy?: number }>): void {
    const { events } = this.options;
    const { kind, lateBy = 0 } = outcome;
    events.emit('expired', { queue, id, type, lateBy: Math.round(lateBy), became: kind === 'ack' ? 'gone' : 'dead' });
    if (kind === 'ack') return;
    const failure = JSON.parse(outcome.error) as MessageFailure;
    events.emit('dead', { queue, id: outcome.next?.letter ?? id, type, attempt, by: 'expired', failure });
  }

  #tellAgainInVain(delivery: Delivery, outcome: Outcome, result: SettleResult): void {
    const wasHandled = outcome.kind === 'ack' && outcome.lateBy === undefined && result === 'accepted';
    for (const place of againWatch.ended(delivery, wasHandled)) this.options.events.note('again-in-vain', { place });
  }
}

function detailBytes(outcome: Outcome): number {
  if (outcome.kind === 'dead') return outcome.error.length;
  return outcome.kind === 'again' ? (outcome.body?.length ?? 0) : 0;
}
