import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode } from '../message/failure.js';
import type { Reach } from '../redis/connection/redis-connection.js';
import type { MessageStore } from '../store/message-store.js';
import { Reading } from '../store/router.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { setImmediate } from '../timing/event-loop.js';
import { OnceAMinute } from '../timing/pauses.js';

/** How long a read waits for a partition, ms, by the state of its connection. A partition whose connection is lost is not asked. */
const PATIENCE = { ready: 500, opening: 500, silent: 50 } as const;

/** What a read needs in order to leave out partitions that do not answer. */
interface Reaches {
  readonly clock: Clock;
  readonly reachOf: (partition: number) => Reach;
  /** Notes any partitions that have not answered. */
  readonly note?: (reached: Reached) => void;
}

/** One read of all partitions. Leaves out partitions that do not answer soon, and remembers which. Fails only if none answers. */
export class PatientReading extends Reading {
  /** Indexes in {@link stores} that have not answered. */
  readonly #missing = new Set<number>();
  readonly #asked = new Set<number>();
  readonly #partitions: number;
  #failure: DelayQueueError | undefined;
  /** Resolves once any partition has answered. */
  #sign: Promise<unknown> | undefined;
  /** Undefined if every partition must answer. */
  readonly #reaches: Reaches | undefined;
  readonly #note: Reaches['note'];

  /** @param reaches - default: every partition must answer, because there is no connection to lose */
  constructor(partitions: readonly MessageStore[], reaches?: Reaches) {
    super(partitions);
    this.#note = reaches?.note;
    this.#partitions = partitions.length;
    const lost = reaches ? [...partitions.keys()].filter((partition) => reaches.reachOf(partition) === 'lost') : [];
    // If no other partition can be read, waiting for the lost ones is worthwhile.
    if (partitions.length === 1 || lost.length === partitions.length) return;
    this.#reaches = reaches;
    this.#missing = new Set(lost);
  }

  override add(store: MessageStore): void {
    if (this.#missing.has(0)) this.#missing.add(this.stores.length);
    super.add(store);
  }

  /** The partitions that have not answered. */
  get missing(): readonly number[] {
    const partitions = [...this.#missing].map((place) => this.#partitionAt(place));
    return [...new Set(partitions)].sort((one, other) => one - other);
  }

  /** Ends the read: reports the partitions that have not answered, and returns them. */
  end(): readonly number[] {
    const { missing } = this;
    const hasAskedAll = [...this.stores.keys()].every((place) => this.#asked.has(place) || this.#missing.has(place));
    this.#note?.({ missing, hasAskedAll });
    return missing;
  }

  override async one<Answer>(
    place: number,
    call: (store: MessageStore) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    if (this.#missing.has(place)) return undefined;
    this.#asked.add(place);
    const answer = await this.inTime(this.#partitionAt(place), () => call(this.stores[place]!));
    if (answer === undefined) this.#miss(place);
    return answer;
  }

  /** Waits for a partition's answer; undefined if none comes soon or it cannot be reached. Throws whatever else the call throws. */
  async inTime<Answer>(partition: number, call: () => Promise<Answer>): Promise<Answer | undefined> {
    if (!this.#reaches) return call();
    const { clock, reachOf } = this.#reaches;
    const reach = reachOf(partition);
    if (reach === 'lost') return undefined;
    const answer = this.#answerOf(call);
    let cancel: CancelTimer | undefined;
    const lapse = new Promise<undefined>((resolve) => {
      const giveUp = () => void this.#signOfLife().then(() => resolve(undefined));
      // If the event loop was blocked, answers that have arrived meanwhile are read first.
      cancel = clock.schedule(() => setImmediate(giveUp), PATIENCE[reach]);
    });
    return Promise.race([answer, lapse]).finally(cancel);
  }

  /** Returns the partition of a store. Added stores are on partition 0's server. */
  #partitionAt(place: number): number {
    return place < this.#partitions ? place : 0;
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

  /** Resolves once any partition has answered, and never if all fail. If all are merely slow, none counts as missing. */
  #signOfLife(): Promise<unknown> {
    const never = () => new Promise(() => undefined);
    return (this.#sign ??= Promise.any(this.stores.map((store) => store.status())).catch(never));
  }

  #miss(place: number): void {
    this.#missing.add(place);
    if (this.#missing.size === this.stores.length) throw this.#failure ?? noAnswer();
  }
}

function noAnswer(): DelayQueueError {
  return new DelayQueueError(
    'NOT_CONNECTED',
    'No partition of the queue answers. Check that Redis is up, then try again.',
  );
}

/** The progress of a read. */
export interface Reached {
  /** The partitions that have not answered. */
  readonly missing: readonly number[];
  /** True if all partitions were asked. Otherwise, there may be more partitions that do not answer. */
  readonly hasAskedAll: boolean;
}

/** Reports which partitions do not answer: whenever the list changes, and otherwise once a minute. */
export class MissingReport {
  #reported: readonly number[] = [];

  constructor(
    private readonly limit: OnceAMinute,
    private readonly report: (missing: readonly number[]) => void,
  ) {}

  /** Notes any partitions that a read could not reach. */
  note({ missing, hasAskedAll }: Reached): void {
    const before = this.#reported;
    this.#reported = hasAskedAll ? missing : [...new Set([...before, ...missing])].sort((one, other) => one - other);
    const isNews = this.#reported.join(' ') !== before.join(' ');
    if (missing.length === 0 || (!isNews && !this.limit.isDue)) return;
    this.limit.reported();
    this.report(this.#reported);
  }
}
