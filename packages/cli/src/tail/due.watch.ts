import type { DelayQueueProducer, MessageSnapshot } from 'nestjs-delay-queue';
import type { InspectedQueue } from 'nestjs-delay-queue/diagnosis';

/** Maximum number of delayed messages that one look reads. */
const MAX = 1000;

/** How much later than planned the next look may be without missing anything, ms. */
const GRACE = 10_000;

/** Messages of one queue that fell due between two looks. */
export interface Due {
  readonly ids: readonly string[];
  /** True if there may have been more, because too many were delayed for one look, or because the look came too late. */
  readonly atLeast: boolean;
}

/**
 * Finds out from outside which messages fall due: each look reads those that will before the next one. It reads nothing while none will. A
 * retry has a due time of its own.
 */
export class DueWatch {
  /** Due times and ids of the messages that will fall due, or did and are still delayed. */
  #foreseen = new Map<string, MessageSnapshot>();
  #reported = new Set<string>();
  /** Until when {@link #foreseen} contains everything that falls due. */
  #coveredUntil = new Date(0);
  #isFirst = true;

  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly queue: string,
    /** The time between two looks, ms. */
    private readonly every: number,
  ) {}

  async look({ now, nextDue }: Pick<InspectedQueue, 'now' | 'nextDue'>): Promise<Due | undefined> {
    const horizon = new Date(now.getTime() + this.every + GRACE);
    const { messages, coveredUntil } = await this.#delayedUntil(horizon, nextDue);
    const present = new Map(messages.map((message) => [keyOf(message), message]));
    const due = [...new Map([...this.#foreseen, ...present])].filter(
      ([key, { dueAt }]) => dueAt <= now && !this.#reported.has(key),
    );
    const atLeast = now > this.#coveredUntil;
    const isFirst = this.#isFirst;
    this.#foreseen = present;
    this.#reported = new Set([...this.#reported, ...due.map(([key]) => key)].filter((key) => present.has(key)));
    [this.#coveredUntil, this.#isFirst] = [coveredUntil, false];
    return isFirst || due.length === 0 ? undefined : { ids: due.map(([, { id }]) => id), atLeast };
  }

  async #delayedUntil(horizon: Date, nextDue: Date | null) {
    if (nextDue === null || nextDue > horizon) return { messages: [], coveredUntil: horizon };
    const { messages, cursor } = await this.producer.list(this.queue, 'delayed', { limit: MAX });
    const within = messages.filter(({ dueAt }) => dueAt <= horizon);
    const isComplete = cursor === null || within.length < messages.length;
    return { messages: within, coveredUntil: isComplete ? horizon : (within.at(-1)?.dueAt ?? new Date(0)) };
  }
}

const keyOf = ({ id, dueAt }: MessageSnapshot) => `${dueAt.getTime()} ${id}`;
