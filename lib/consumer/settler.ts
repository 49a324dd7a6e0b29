import { MAX_BATCH } from '../message/page.js';
import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { againWatch } from '../message/again-watch.js';
import { hasCode } from '../message/failure.js';
import type { ErrorCodec } from '../message/codec/message-codec.js';
import type { DeathCause } from '../message/delay-queue-events.js';
import type { MessageFailure } from '../message/message.js';
import type { ConsumerStore, Outcome, Settlement } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { TurnBatcher } from '../timing/event-loop.js';
import { CountOnceAMinute, failurePause, Pauses } from '../timing/pauses.js';
import type { Activity } from './activity.js';
import type { Delivery } from './delivery.js';
import type { LeaseKeeper } from './lease-keeper.js';

export interface DeliverySettlement extends Settlement {
  readonly claim: Delivery;
}

/** Has the store remember which messages were handled. */
export interface SettledHistory {
  /** Called right before each attempt to settle these messages, in the same turn of the event loop. Never throws. */
  remember(store: Pick<ConsumerStore, 'remember'>, settlements: readonly DeliverySettlement[]): void;
}

const MAX_BATCH_BYTES = 1024 * 1024;

/** The size counted for a settlement without its body or error, bytes. */
const BASE_BYTES = 100;

/** The event for each kind of accepted outcome. A release has none. */
const EVENT_OF = { ack: 'handled', retry: 'retried', defer: 'deferred', again: 'again', dead: 'dead' } as const;

/**
 * Sends all outcomes of one turn of the event loop to the store in one call, repeats the call until the store answers, and then reports the
 * outcomes. Repeating is safe: an outcome that already counts, or can no longer count, changes nothing.
 */
export class Settler {
  readonly #streak: FailureStreak;
  readonly #pauses: Pauses;
  readonly #batcher: TurnBatcher<DeliverySettlement>;
  /** Sends the outcomes without waiting for the end of the turn. */
  readonly flush: () => void;
  /** Kept ids that were dropped: a queue that has reached the limit drops one for each message. */
  readonly #idsDropped: CountOnceAMinute;
  #stopped = false;

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly store: Pick<ConsumerStore, 'settle' | 'remember' | 'catchUp'>;
      readonly clock: Clock;
      readonly events: Events;
      /** Tracks each message until its outcome is dealt with. */
      readonly leases: Pick<LeaseKeeper, 'letGo'>;
      readonly activity?: Activity | undefined;
      /** How the errors of dead letters are stored; undefined: as they are. */
      readonly errors?: ErrorCodec | undefined;
      /** Undefined if handled messages are not remembered. */
      readonly history?: SettledHistory | undefined;
    },
  ) {
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'settle', queue));
    this.#pauses = new Pauses(clock);
    this.#idsDropped = new CountOnceAMinute(clock, (count) => events.emit('ids-dropped', { queue, count }));
    this.#batcher = new TurnBatcher({
      maxItems: MAX_BATCH,
      maxWeight: MAX_BATCH_BYTES,
      weigh: ({ outcome }) => BASE_BYTES + detailBytes(outcome),
      send: (batch) => void this.#settleAll(batch),
    });
    this.flush = this.#batcher.flush;
  }

  /** Sends an outcome at the end of this turn of the event loop. */
  settle(delivery: Delivery, outcome: Outcome): void {
    this.#batcher.add({ claim: delivery, outcome });
  }

  /** Stops repeating failed calls. */
  stop(): void {
    this.#stopped = true;
    this.#pauses.end();
  }

  async #settleAll(batch: readonly DeliverySettlement[]): Promise<void> {
    const { store, leases } = this.options;
    const accepted = await this.#sendUntilAnswered(batch);
    // An outcome may have been refused because of an abort whose announcement is still on its way.
    if (accepted?.includes(false) && batch.some(({ claim }, i) => !accepted[i] && !claim.isLost))
      await store.catchUp?.();
    for (let i = 0; i < batch.length; i++) {
      const { claim, outcome } = batch[i]!;
      if (accepted) this.#report(claim, outcome, accepted[i]!);
      leases.letGo(claim);
      if (againWatch.isWatching) this.#reportNotReturned(outcome, accepted?.[i] === true);
    }
  }

  /** Returns true for each outcome that counts because its claim was still held; undefined if the process stopped before an answer. */
  async #sendUntilAnswered(batch: readonly DeliverySettlement[]): Promise<readonly boolean[] | undefined> {
    const { store, events, queue, errors, history } = this.options;
    const settlements = errors ? batch.map((settlement) => withStoredError(settlement, errors)) : batch;
    let mayHaveHappened = false;
    for (let failures = 1; ; failures++) {
      try {
        history?.remember(store, batch);
        const { accepted, dropped, idsDropped } = await store.settle(settlements);
        this.#streak.worked();
        if (dropped > 0) events.emit('dead-letters-dropped', { queue, count: dropped });
        if (idsDropped) this.#idsDropped.add(idsDropped);
        // If the answer to an earlier call was lost, a refusal most likely means that this very outcome already counts.
        return mayHaveHappened ? batch.map(() => true) : accepted;
      } catch (error) {
        if (this.#stopped || hasCode(error, 'CLOSED')) return undefined;
        mayHaveHappened ||= hasCode(error, 'OUTCOME_UNKNOWN');
        this.#streak.callFailed(error);
        await this.#pauses.take(failurePause(failures));
      }
    }
  }

  #report(delivery: Delivery, outcome: Outcome, isAccepted: boolean): void {
    if (outcome.kind === 'release' || delivery.isAborted) return;
    const { events, activity } = this.options;
    const { queue, id, type, attempt } = delivery;
    if (!isAccepted) return events.emit('lease-lost', { queue, id });
    if ('lateBy' in outcome) {
      const { kind, lateBy = 0 } = outcome;
      const became = kind === 'ack' ? 'gone' : 'dead';
      events.emit('expired', { queue, id, type, lateBy: Math.round(lateBy), became });
      if (became === 'gone') return;
    } else if (activity) count(activity, outcome);
    const name = EVENT_OF[outcome.kind];
    if (!events.has(name)) return;
    const attempted = { queue, id, type, attempt };
    if (outcome.kind !== 'dead') return events.emit(EVENT_OF[outcome.kind], attempted);
    const failure = JSON.parse(outcome.error) as MessageFailure;
    const { by = 'handler' } = outcome;
    const last = by === 'lease' ? attempt - 1 : attempt;
    events.emit('dead', { ...attempted, attempt: last, id: outcome.next?.letter ?? id, by, failure });
  }

  #reportNotReturned(outcome: Outcome, isAccepted: boolean): void {
    const wasHandled = isAccepted && outcome.kind === 'ack' && outcome.lateBy === undefined;
    for (const place of againWatch.ended(wasHandled)) this.options.events.note('again-not-returned', { place });
  }
}

/** Causes of death whose errors come from this package, and say nothing about a payload. */
const OWN_CAUSES: ReadonlySet<DeathCause | undefined> = new Set(['lease', 'unknown-type', 'expired']);

function withStoredError(settlement: DeliverySettlement, errors: ErrorCodec): DeliverySettlement {
  const { outcome } = settlement;
  if (outcome.kind !== 'dead' || OWN_CAUSES.has(outcome.by)) return settlement;
  return { ...settlement, outcome: { ...outcome, error: errors.encode(outcome.error) } };
}

/** Counts an outcome. A deferred message has been neither handled nor failed. */
function count(activity: Activity, { kind }: Outcome): void {
  if (kind === 'ack' || kind === 'again') activity.handled();
  else if (kind === 'retry' || kind === 'dead') activity.failed();
}

function detailBytes(outcome: Outcome): number {
  if (outcome.kind === 'dead') return outcome.error.length;
  return outcome.kind === 'again' ? (outcome.body?.length ?? 0) : 0;
}
