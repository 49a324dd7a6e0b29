import { DelayQueueError, withMessageId } from '../message/delay-queue-errors.js';
import { hasCode } from '../message/failure.js';
import { showNames } from '../message/show-given.js';
import type { MessageStore } from './message-store.js';
import type { Router } from './router.js';

/** @param note - counts messages that were changed, even if a later call fails */
type Write = (store: MessageStore, note: (changed: number) => void) => Promise<void>;

/**
 * Writes to all of a queue's stores, even if some fail. Writes again if this process discovers stores that it did not know.
 * @param what - the method's name, for the error
 * @returns the number of messages changed
 * @throws DelayQueueError the store's error if nothing was done; otherwise `OUTCOME_UNKNOWN`, and `cause.errors` says where it failed
 */
export async function writeAll(router: Router, what: string, write: Write): Promise<number> {
  let changed = 0;
  const note = (count: number) => void (changed += count);
  let [parts, finished] = [0, 0];
  let failed: FailedPart[] = [];
  try {
    await router.withAll(async (all) => {
      parts = all.length;
      const written = await Promise.allSettled(all.map(({ store }) => write(store, note)));
      failed = written.flatMap((each, place) =>
        each.status === 'fulfilled' ? [] : [{ where: all[place]!.name, error: each.reason as unknown }],
      );
      finished = parts - failed.length;
    });
  } catch (error) {
    // If a store has failed, its error says more.
    if (failed.length === 0) failed = [{ where: 'partitions that this process may not know', error }];
  }
  if (failed.length === 0) return changed;
  throw unfinished(what, describe({ finished, parts, changed }), failed);
}

/** @returns undefined if nothing was done */
function describe({ finished, parts, changed }: { finished: number; parts: number; changed: number }) {
  if (finished === 0 && changed === 0) return undefined;
  const where = `was carried out in ${finished} of ${parts} parts of the queue`;
  return changed === 0 ? where : `${where}, and has changed messages: ${changed}`;
}

/** The maximum number of failures that a {@link ChangeTally} keeps. */
const MAX_KEPT = 1000;

/** Counts changes of single messages, each made by a call of its own. */
export class ChangeTally {
  changed = 0;
  /** The number of messages that were no longer in a state in which they could be changed. */
  unchanged = 0;
  readonly #failed: FailedPart[] = [];
  #mustStop = false;

  /** True after a failure other than an unconfirmed replication: later changes would most likely fail, too. */
  get mustStop(): boolean {
    return this.#mustStop;
  }

  /** Changes messages at once. Counts a message as changed even if the change may not be replicated. */
  async change(ids: readonly string[], change: (id: string) => Promise<boolean>): Promise<void> {
    await Promise.all(
      ids.map(async (id) => {
        try {
          if (await change(id)) this.changed++;
          else this.unchanged++;
        } catch (error) {
          if (hasCode(error, 'NOT_REPLICATED')) this.changed++;
          this.fail(`message '${id}'`, withMessageId(error, id));
        }
      }),
    );
  }

  fail(where: string, error: unknown): void {
    if (!hasCode(error, 'NOT_REPLICATED')) this.#mustStop = true;
    if (this.#failed.length < MAX_KEPT) this.#failed.push({ where, error });
  }

  /** @param what - the method's name @throws the error for all failures, if there were any */
  throwIfFailed(what: string): void {
    if (this.#failed.length === 0) return;
    throw unfinished(what, this.changed === 0 ? undefined : `has changed messages: ${this.changed}`, this.#failed);
  }
}

interface FailedPart {
  /** For example `partition 3`. */
  readonly where: string;
  readonly error: unknown;
}

/**
 * Creates the error for a write that consists of several calls, some of which have failed.
 * @param what - the method's name
 * @param done - what the other calls have done, as the rest of a sentence; undefined: nothing
 */
function unfinished(what: string, done: string | undefined, failed: readonly FailedPart[]): unknown {
  const errors = failed.map(({ error }) => error);
  const worst = worstOf(errors);
  if (!(worst instanceof DelayQueueError) || (done === undefined && failed.length === 1)) return worst;
  const where = showNames(failed.map((each) => each.where));
  const cause = new AggregateError(failed.map(named));
  if (done === undefined)
    return new DelayQueueError(worst.code, `${what} failed for ${where}: ${worst.message}`, { cause });
  const codes = [...new Set(errors.map((error) => (error as Partial<DelayQueueError>).code))].join(', ');
  const problem = `${what} ${done}. Failed: ${where} (${codes}). See \`cause.errors\`, then call it again.`;
  return new DelayQueueError(worst.code === 'NOT_REPLICATED' ? worst.code : 'OUTCOME_UNKNOWN', problem, { cause });
}

/** Returns the failure that leaves the most uncertainty. */
export function worstOf(failures: readonly unknown[]): unknown {
  return (
    failures.find((error) => hasCode(error, 'OUTCOME_UNKNOWN')) ??
    failures.find((error) => !hasCode(error, 'NOT_REPLICATED')) ??
    failures[0]
  );
}

function named({ where, error }: FailedPart): unknown {
  if (!(error instanceof DelayQueueError)) return error;
  const { code, message, messageId } = error;
  return new DelayQueueError(code, `${where}: ${message}`, {
    cause: error,
    ...(messageId !== undefined && { messageId }),
  });
}
