/** Simulates one seed until a promise is broken, and prints what it has seen as JSON: `look.js SEED MESSAGES`. */
import { Journal } from '../oracle/journal.js';
import { Simulation } from '../simulation.js';
import type { Broken, Sight } from './search.js';

/** Most mistakes show sooner in quiet phases: one run in so many has busy ones, too, and so many times the messages. */
const BUSY_EVERY = 3;
const MESSAGES_IF_BUSY = 8;

/** Others often make up for what a process misses: one quiet run in so many has a single process. */
const ALONE_EVERY = 2;

const [seed, messages] = process.argv.slice(2) as [string, string];

let isReported = false;

function report(broken: Broken | undefined): void {
  if (isReported) return;
  isReported = true;
  const { user, system } = process.cpuUsage();
  const sight: Sight = { broken, cpuSeconds: (user + system) / 1e6 };
  process.stdout.write(JSON.stringify(sight), () => process.exit(0));
}

// Outside of the promises of this module, which the simulation could not run.
setTimeout(() => {
  process.on('uncaughtException', ({ stack }) => report({ promise: 'throws nothing', detail: String(stack) }));
  const isQuiet = Number(seed) % BUSY_EVERY !== 0;
  const offered = Number(messages) * (isQuiet ? 1 : MESSAGES_IF_BUSY);
  const isAlone = isQuiet && Number(seed) % ALONE_EVERY === 0;
  const options = { seed, messages: offered, processes: isAlone ? 1 : undefined, faults: true, kinds: undefined };
  const result = new Simulation({
    ...{ ...options, isQuiet, isLeftOut: () => false, goesOn: false },
    openJournal: (world) => new Journal(world),
    onProgress: () => undefined,
  }).run();
  const [first] = result.violations;
  report(first && { promise: first.promise, detail: `${first.id}: ${first.detail}` });
}, 0);
