import type { Settlement, SettleReport } from '../../../lib/store/consumer-store.js';
import type { OfferReceipt } from '../../../lib/store/producer-store.js';
import { keepsIds, type Scenario } from '../applications/scenario.js';
import type { QueueUse } from './queue-use.js';

type Violate = (promise: string, id: string, detail: string) => void;

/** The ids that the stores keep: when the message with each was handled, ms since 1970 by the clock of the server, oldest first. */
type Times = Map<string, number>;

const isHandled = ({ outcome }: Settlement) =>
  outcome.kind === 'ack' && outcome.lateBy === undefined && outcome.next === undefined;

/** The order in which the memory store drops ids. */
const oldestFirst = ([id, at]: readonly [string, number], [otherId, otherAt]: readonly [string, number]) =>
  at - otherAt || (id < otherId ? 1 : -1);

/** Judges which offers are ignored because their ids are kept. */
export class KeptIdsUse {
  readonly #times = new Map<QueueUse, Times>();

  /** @param time - by the clock of the server, ms since 1970 */
  constructor(
    private readonly options: {
      readonly scenario: Pick<Scenario, 'idsFor' | 'partitions'>;
      readonly time: () => number;
      readonly violate: Violate;
    },
  ) {}

  /** Outcomes have taken effect. @param isFollowed - true if a follower takes the place of the message with an id */
  settled(
    queue: QueueUse,
    settlements: readonly Settlement[],
    { accepted, idsDropped }: SettleReport,
    isFollowed: (id: string) => boolean,
  ): void {
    const { scenario, violate } = this.options;
    if (!keepsIds(queue.traits, scenario)) return;
    const times = this.#timesOf(queue);
    for (const [i, settlement] of settlements.entries()) {
      const { id } = settlement.claim;
      if (!accepted[i] || !isHandled(settlement) || isFollowed(id)) continue;
      if (idsDropped === undefined) violate('ids kept', id, 'was handled, and the store does not say that it is kept');
      times.delete(id);
      times.set(id, this.#now);
    }
    // Only a call that may keep ids drops those that are too old: until then, a clock that is set back makes them live again.
    if (idsDropped === undefined) return;
    for (const [id, time] of times) if (!this.#isLive(time)) times.delete(id);
    const max = Math.ceil(scenario.idsFor!.max / (queue.traits.kind === 'plain' ? scenario.partitions : 1));
    if (idsDropped !== Math.max(0, times.size - max))
      violate(
        'ids kept',
        '-',
        `${idsDropped} of ${times.size} ids are dropped before their time, with room for ${max}`,
      );
    if (idsDropped === 0) return;
    for (const [id] of [...times].sort(oldestFirst).slice(0, idsDropped)) times.delete(id);
  }

  offered(queue: QueueUse, id: string, { outcome, dueAt }: OfferReceipt): void {
    const time = this.#times.get(queue)?.get(id);
    const isKept = time !== undefined && this.#isLive(time);
    if (isKept && outcome !== 'handled') this.options.violate('ids kept', id, `${outcome} although it was handled`);
    if (outcome !== 'handled') return;
    if (!isKept) this.options.violate('ids kept', id, 'is ignored, but was not handled, or too long ago');
    else if (dueAt !== time) this.options.violate('ids kept', id, `was handled at ${time}, not at ${dueAt}`);
  }

  freed(queue: QueueUse, id: string, wasKept: boolean): void {
    const times = this.#timesOf(queue);
    const time = times.get(id);
    const isKept = time !== undefined && this.#isLive(time);
    if (isKept !== wasKept)
      this.options.violate('ids kept', id, isKept ? 'is not found to be freed' : 'is freed, but was not kept');
    times.delete(id);
  }

  /** Returns what brings back the ids that are kept now. */
  save(): () => void {
    const saved = new Map<QueueUse, Times>();
    for (const [queue, times] of this.#times) saved.set(queue, new Map(times));
    return () => {
      this.#times.clear();
      for (const [queue, times] of saved) this.#times.set(queue, times);
    };
  }

  #timesOf(queue: QueueUse): Times {
    let times = this.#times.get(queue);
    if (!times) this.#times.set(queue, (times = new Map<string, number>()));
    return times;
  }

  get #now(): number {
    return Math.floor(this.options.time());
  }

  #isLive(time: number): boolean {
    return time + this.options.scenario.idsFor!.for > this.#now;
  }
}
