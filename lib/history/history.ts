import type { DeliverySettlement, SettledHistory } from '../consumer/settler.js';
import type { Events } from '../events/events.js';
import { hasCode, showFailure } from '../message/failure.js';
import type { DelayedMessage } from '../message/message.js';
import { letterIdOf } from '../message/repeat-rule.js';
import type { ConsumerStore, Handling, HandlingWorker } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { OnceAMinute } from '../timing/pauses.js';

interface Start {
  /** On the monotonic clock. */
  readonly at: number;
  readonly lateness: number;
  /** The time until the outcome was first sent, ms; undefined before. */
  took?: number;
}

type Call<Messages> = (payload: unknown, messages: Messages) => unknown;

/**
 * Has the store remember what the handlers of a queue have handled: each message whose handler was called and whose outcome is `ack`. The
 * entries are sent right before the outcomes, so a crash loses none of them. If the outcome itself is lost, the message is handled again,
 * and the next entry replaces this one. A message that comes again (`again()`) is not handled yet.
 */
export class History implements SettledHistory {
  /** The handler calls of messages whose entries have to be sent. */
  readonly #starts = new WeakMap<DelayedMessage, Start>();
  readonly #warning: OnceAMinute;

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly worker: HandlingWorker;
      readonly clock: Clock;
      readonly events: Pick<Events, 'note'>;
    },
  ) {
    this.#warning = new OnceAMinute(options.clock);
  }

  /** Returns a call that also notes when the handler of each message, or of a batch of messages, starts. */
  watch<Messages extends DelayedMessage | readonly DelayedMessage[]>(call: Call<Messages>): Call<Messages> {
    return (payload, messages) => {
      const at = this.options.clock.monotonic();
      for (const message of [messages].flat() as readonly DelayedMessage[]) {
        this.#starts.set(message, { at, lateness: message.lateness });
      }
      return call(payload, messages);
    };
  }

  remember(store: Pick<ConsumerStore, 'remember'>, settlements: readonly DeliverySettlement[]): void {
    const handlings = settlements.flatMap((settlement) => this.#handlingOf(settlement) ?? []);
    if (handlings.length > 0) void this.#send(store, handlings);
  }

  /** Sends entries. They are sent again whenever the outcomes are. */
  async #send(store: Pick<ConsumerStore, 'remember'>, handlings: readonly Handling[]): Promise<void> {
    try {
      await store.remember!(handlings);
    } catch (error) {
      if (!hasCode(error, 'STORE_REFUSED') || !this.#warning.isDue) return;
      this.options.events.note('history-refused', { queue: this.options.queue, reason: showFailure(error) });
      this.#warning.reported();
    }
  }

  #handlingOf({ claim: delivery, outcome }: DeliverySettlement): Handling | undefined {
    if (outcome.kind !== 'ack' || outcome.lateBy !== undefined || delivery.isAborted) return undefined;
    const start = this.#starts.get(delivery.message);
    if (!start) return undefined;
    const { id, type, group, dueAt, offeredAt, attempt, terms } = delivery;
    const { clock, worker } = this.options;
    const took = (start.took ??= Math.round(clock.monotonic() - start.at));
    const entry = {
      ...{ dueAt, offeredAt, lateness: start.lateness, took, attempt },
      ...(type !== '' && { type }),
      ...(group !== undefined && { group }),
      worker,
    };
    return { id, keptAs: terms?.repeat ? letterIdOf(id, terms.repeat.at) : id, entry };
  }
}
