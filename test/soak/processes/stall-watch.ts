import type { Journal } from '../journal/journal.js';

const INTERVAL = 100;

/** A machine with too little to give makes leases end just as a fault does, so it has to be told. */
const WORTH_TELLING = 1000;

/** Writes into the journal when this process stood still, whatever the reason. */
export function watchForStalls(journal: Journal): void {
  let last = journal.now();
  setInterval(() => {
    const now = journal.now();
    if (now - last > WORTH_TELLING) void journal.append({ kind: 'stall', from: last, at: now });
    last = now;
  }, INTERVAL).unref();
}
