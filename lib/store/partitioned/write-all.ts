import type { MessageStore } from '../message-store.js';
import type { Partitions } from './partitions.js';
import { type FailedPart, unfinished } from './unfinished-write.js';

/** @param note - takes note of messages that were changed: they count even if a later call fails */
type Write = (store: MessageStore, note: (changed: number) => void) => Promise<void>;

/**
 * Writes to all partitions, whatever becomes of the others; again, if there turn out to be others than this process knew.
 *
 * @param what - the name of the method, for the error
 * @returns how many messages were changed
 * @throws DelayQueueError what the store throws, if nothing was done; otherwise `OUTCOME_UNKNOWN`, and `cause.errors` says where it failed
 */
export async function writeAll(partitions: Partitions, what: string, write: Write): Promise<number> {
  let changed = 0;
  const note = (count: number) => void (changed += count);
  for (;;) {
    const ready = partitions.ready();
    if (ready) await ready;
    const { stores } = partitions;
    const [written, [refreshed]] = await Promise.all([
      Promise.allSettled(stores.map((store) => write(store, note))),
      Promise.allSettled([partitions.refresh()]),
    ]);
    if (partitions.stores !== stores) continue;
    const failed = written.flatMap((each, place): FailedPart[] =>
      each.status === 'fulfilled' ? [] : [{ where: nameOf(partitions, place), error: each.reason as unknown }],
    );
    // If a partition has failed, its error says more.
    if (refreshed.status === 'rejected' && failed.length === 0)
      failed.push({ where: 'partitions that this process may not know', error: refreshed.reason });
    if (failed.length === 0) return changed;
    const finished = written.filter(({ status }) => status === 'fulfilled').length;
    throw unfinished(what, describe({ finished, parts: stores.length, changed }), failed);
  }
}

function nameOf({ stores, groups }: Partitions, place: number): string {
  return stores[place] === groups ? 'the messages with groups' : `partition ${place}`;
}

/** @returns undefined: nothing was done */
function describe({ finished, parts, changed }: { finished: number; parts: number; changed: number }) {
  if (finished === 0 && changed === 0) return undefined;
  const where = `was carried out in ${finished} of ${parts} parts of the queue`;
  return changed === 0 ? where : `${where}, and has changed messages: ${changed}`;
}
