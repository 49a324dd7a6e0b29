import { DelayQueueError } from '../message/delay-queue-errors.js';
import { type CheckedDue, type DueTime, type Duration, readDue } from '../message/duration.js';
import type { MessageSnapshot, MessageState } from '../message/message.js';
import { readFields } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import type { Router } from '../store/router.js';
import { ChangeTally } from '../store/write-all.js';
import { Examined } from './examined.js';
import type { CheckedFilter } from './message-filter.js';
import { type SearchedQueue, searchPart } from './search-messages.js';

/** What a walk through matching messages has found and changed so far. */
export interface MatchReport {
  /** The matching messages found so far: at least so many match until `isComplete` is true. */
  readonly matched: number;
  /** How many of them were changed; 0 for `count`. */
  readonly changed: number;
  /** How many of them were no longer in the filter's state when their turn came. */
  readonly movedOn: number;
  readonly examined: number;
  /** True once all messages have been examined. False if the signal has stopped the walk, or if partitions are `missing`. */
  readonly isComplete: boolean;
  /** How many of the examined messages could not be searched for `text`, as in {@link SearchPage}. */
  readonly encrypted?: number;
  /** The partitions that did not answer, as in {@link QueueCounts}. */
  readonly missing?: readonly number[];
}

/** How to follow and stop a walk. */
export interface StepOptions {
  /** Stops the walk before its next step. What has been changed stays changed. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each step. An error that it throws ends the walk. */
  readonly onProgress?: ((report: MatchReport) => void) | undefined;
}

/**
 * All messages that match a filter, from `DelayQueueProducer.matching`. Methods walk through the messages of the filter's state in steps:
 * each examines at most 400 messages and changes those that match, each in a call of its own. Messages that are moved by others during the
 * walk may be missed.
 *
 * Methods reject with the same errors as the producer's. A failed change ends the walk after its step; the error says how many messages have
 * been changed. A method whose action does not fit the filter's state rejects with `INVALID_ARGUMENT`.
 */
export interface MatchingMessages {
  /** Counts the messages. Of dead letters, those that die during the call are left out. */
  count(options?: StepOptions): Promise<MatchReport>;

  /** Cancels the messages, as `cancel` does. The state is `delayed`. */
  cancel(options?: StepOptions): Promise<MatchReport>;

  /**
   * Moves all messages to one due time. The state is `delayed`. Messages that are already due at that time are left out, which also keeps the
   * walk from counting a message twice.
   * @param due - a delay from the start of the call, 0 ms – 100 years, or a `Date` between 1970 and 9999; by Redis' clock
   */
  reschedule<const Due extends Duration | Date = Duration | Date>(
    due: CheckedDue<Due>,
    options?: StepOptions,
  ): Promise<MatchReport>;

  /** Makes the dead letters due now, with all their attempts restored, except those that die during the call. The state is `dead`. */
  redrive(options?: StepOptions): Promise<MatchReport>;

  /** Removes the dead letters for good, except those that die during the call. The state is `dead`. */
  discard(options?: StepOptions): Promise<MatchReport>;
}

interface MatchedQueue extends SearchedQueue<MessageSnapshot> {
  readonly router: Router;
  readonly deadLetters: { redrive(id: string): Promise<boolean>; discard(id: string): Promise<boolean> };
}

interface Walk {
  readonly what: string;
  readonly options: StepOptions | undefined;
  /** Default: the messages are only counted. */
  readonly change?: (id: string) => Promise<boolean>;
  /** The due time of messages that are left out. */
  readonly except?: number;
}

export class StoredMatches implements MatchingMessages {
  constructor(
    private readonly queue: MatchedQueue,
    private readonly filter: CheckedFilter,
  ) {}

  async count(options?: StepOptions): Promise<MatchReport> {
    return this.#walk({ what: 'count', options });
  }

  async cancel(options?: StepOptions): Promise<MatchReport> {
    this.#assertState('cancel', 'delayed');
    const { router } = this.queue;
    return this.#walk({ what: 'cancel', options, change: (id) => router.lookUp(id, (store) => store.cancel(id)) });
  }

  async reschedule<const Due extends Duration | Date = Duration | Date>(
    due: CheckedDue<Due>,
    options?: StepOptions,
  ): Promise<MatchReport> {
    this.#assertState('reschedule', 'delayed');
    const at = await this.#instantOf(readDue(due));
    const change = (id: string) => this.queue.router.lookUp(id, (store) => store.reschedule(id, { at }));
    return this.#walk({ what: 'reschedule', options, change, except: at });
  }

  async redrive(options?: StepOptions): Promise<MatchReport> {
    this.#assertState('redrive', 'dead');
    return this.#walk({ what: 'redrive', options, change: (id) => this.queue.deadLetters.redrive(id) });
  }

  async discard(options?: StepOptions): Promise<MatchReport> {
    this.#assertState('discard', 'dead');
    return this.#walk({ what: 'discard', options, change: (id) => this.queue.deadLetters.discard(id) });
  }

  #assertState(what: string, state: MessageState): void {
    if (this.filter.state === state) return;
    const problem = `matching().${what}: the filter's state must be '${state}', not '${this.filter.state}'`;
    throw new DelayQueueError('INVALID_ARGUMENT', problem);
  }

  async #instantOf(due: DueTime): Promise<number> {
    return 'at' in due ? due.at : (await this.queue.store.status()).now + due.after;
  }

  async #walk({ what, options, change, except }: Walk): Promise<MatchReport> {
    const { signal, onProgress } = readOptions(options);
    const { queue, filter } = this;
    const tally = new ChangeTally();
    const examined = new Examined();
    let matched = 0;
    let cursor: string | null | undefined;
    const report = (): MatchReport => ({
      matched,
      changed: tally.changed,
      movedOn: tally.unchanged,
      examined: examined.count,
      isComplete: cursor === null && examined.isComplete,
      ...examined.notes,
    });
    // Without this end, messages that are redriven and die again would be found again.
    const lastDeath = filter.state === 'dead' ? (await queue.store.status()).now : Infinity;
    while (cursor !== null && !signal?.aborted && !tally.mustStop) {
      try {
        const part = await searchPart(queue, filter, { cursor, lastDeath });
        const found = part.messages.filter(({ dueAt }) => dueAt.getTime() !== except);
        // A message without an id is known only to the system that shares the queue.
        const ids = found.flatMap(({ id }) => (id === '' ? [] : [id]));
        if (change) await tally.change(ids, change);
        matched += found.length;
        examined.add(part);
        cursor = part.cursor;
      } catch (error) {
        tally.fail('the search for the others', error);
      }
      onProgress?.(report());
    }
    tally.throwIfFailed(`matching().${what}`);
    return report();
  }
}

function readOptions(options: StepOptions | undefined): StepOptions {
  if (options === undefined) return {};
  const read = readFields(options, 'options', ['signal', 'onProgress']);
  const { signal, onProgress } = read as Record<keyof StepOptions, unknown>;
  if (signal !== undefined && !isSignal(signal)) {
    throw invalid(`signal must be an AbortSignal, not ${showGiven(signal)}`);
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw invalid(`onProgress must be a function, not ${showGiven(onProgress)}`);
  }
  return read;
}

function isSignal(value: unknown): boolean {
  return typeof (value as { readonly aborted?: unknown } | null)?.aborted === 'boolean';
}

function invalid(problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `options: ${problem}`);
}
