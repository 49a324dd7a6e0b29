import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { hasCode } from '../../message/failure.js';
import type { CancelTimer, Clock } from '../../timing/clock.js';
import { setImmediate } from '../../timing/event-loop.js';
import type { MessageStore } from '../message-store.js';
import type { Reach } from '../../redis/connection/redis-connection.js';
import type { Reached } from './missing-report.js';

/** How long a read waits for a partition, ms, by what is known of the way to it. One that is lost is not asked. */
const PATIENCE = { ready: 500, opening: 500, silent: 50 } as const;

/** What a read needs to do without partitions that do not answer. */
export interface Reaches {
  readonly clock: Clock;
  readonly reachOf: (partition: number) => Reach;
  /** The place of the store that has the messages with groups; they are where partition 0 is. */
  readonly groupsAt?: number | undefined;
  /** Takes note of the partitions that have not answered, if any. */
  readonly note?: (reached: Reached) => void;
}

/**
 * One read of all partitions of a queue. It does without those that do not answer soon, and remembers which they are. If none
 * answers, it fails as a read of a single partition does.
 */
export class Reading {
  readonly #missing = new Set<number>();
  readonly #asked = new Set<number>();
  /** Why a partition is missing. */
  #failure: DelayQueueError | undefined;
  /** Resolves once any partition has answered. */
  #sign: Promise<unknown> | undefined;
  /** Undefined: every partition must answer. */
  readonly #reaches: Reaches | undefined;
  readonly #note: Reaches['note'];
  readonly #groupsAt: number | undefined;

  /** @param reaches - default: every partition must answer, because there is no way to lose */
  constructor(
    readonly stores: readonly MessageStore[],
    reaches?: Reaches,
  ) {
    this.#note = reaches?.note;
    this.#groupsAt = reaches?.groupsAt;
    const lost = reaches ? [...stores.keys()].filter((partition) => reaches.reachOf(partition) === 'lost') : [];
    // If there is nothing to read without them, they are worth the wait.
    const partitions = this.#groupsAt ?? stores.length;
    if (partitions === 1 || lost.length === stores.length) return;
    this.#reaches = reaches;
    this.#missing = new Set(lost);
  }

  /** The partitions that have not answered. */
  get missing(): readonly number[] {
    const partitions = [...this.#missing].map((store) => (store === this.#groupsAt ? 0 : store));
    return [...new Set(partitions)].sort((one, other) => one - other);
  }

  /** @returns {@link missing}, once that has been noted */
  end(): readonly number[] {
    const { missing } = this;
    const hasAskedAll = [...this.stores.keys()].every((store) => this.#asked.has(store) || this.#missing.has(store));
    this.#note?.({ missing, hasAskedAll });
    return missing;
  }

  /** Asks every partition. @returns the answers, in the order of the partitions */
  async all<Answer>(call: (store: MessageStore) => Promise<Answer>): Promise<Answer[]> {
    const answers = await Promise.all([...this.stores.keys()].map((partition) => this.one(partition, call)));
    return answers.flatMap((answer) => (answer === undefined ? [] : [answer]));
  }

  /** Asks one partition. @returns undefined if it does not answer */
  async one<Answer>(partition: number, call: (store: MessageStore) => Promise<Answer>): Promise<Answer | undefined> {
    if (this.#missing.has(partition)) return undefined;
    this.#asked.add(partition);
    const answer = await this.inTime(partition, () => call(this.stores[partition]!));
    if (answer === undefined) this.#miss(partition);
    return answer;
  }

  /**
   * Waits for an answer of a partition.
   *
   * @returns undefined if it does not come soon
   * @throws what the call throws, unless that says that the partition does not answer
   */
  async inTime<Answer>(partition: number, call: () => Promise<Answer>): Promise<Answer | undefined> {
    if (!this.#reaches) return call();
    const { clock, reachOf } = this.#reaches;
    const reach = reachOf(partition);
    if (reach === 'lost') return undefined;
    const answer = this.#answerOf(call);
    let cancel: CancelTimer | undefined;
    const lapse = new Promise<undefined>((resolve) => {
      const giveUp = () => void this.#signOfLife().then(() => resolve(undefined));
      // After the event loop was blocked, answers that are there already come first.
      cancel = clock.schedule(() => setImmediate(giveUp), PATIENCE[reach]);
    });
    return Promise.race([answer, lapse]).finally(cancel);
  }

  async #answerOf<Answer>(call: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await call();
      this.#sign ??= Promise.resolve();
      return answer;
    } catch (error) {
      if (!hasCode(error, 'NOT_CONNECTED', 'OUTCOME_UNKNOWN')) throw error;
      this.#failure = error;
      return undefined;
    }
  }

  /** If all partitions are slow, none is missing: then this takes as long as they do, and never resolves if they fail. */
  #signOfLife(): Promise<unknown> {
    const never = () => new Promise(() => undefined);
    return (this.#sign ??= Promise.any(this.stores.map((store) => store.status())).catch(never));
  }

  #miss(partition: number): void {
    this.#missing.add(partition);
    if (this.#missing.size === this.stores.length) throw this.#failure ?? noAnswer();
  }
}

function noAnswer(): DelayQueueError {
  return new DelayQueueError(
    'NOT_CONNECTED',
    'No partition of the queue answers. Check that Redis is up, then try again.',
  );
}
