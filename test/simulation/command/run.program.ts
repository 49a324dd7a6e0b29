// It must come first: it stands in for what others take from Node.js.
import { realNow } from '../world/host.js';
import { writeSync } from 'node:fs';
import { Journal } from '../oracle/journal.js';
import { Simulation } from '../simulation.js';
import { type Narration, PARENT, type RunMessage, type RunOrder } from './run-order.js';
import { Narrator } from './narrator.js';

/*
 * One run, in a process of its own: `node run.program.js ORDER [NARRATION]`, both JSON. It tells its parent what it does on another pipe,
 * because its event loop does not turn before it is over.
 */

/** How often it tells how far it has got, ms of real time. */
const PROGRESS = 1000;

const order = JSON.parse(process.argv[2]!) as RunOrder;
const narration = process.argv[3] === undefined ? undefined : (JSON.parse(process.argv[3]) as Narration);
const tell = (message: RunMessage) => writeAll(PARENT, `${JSON.stringify(message)}\n`);
const write = (text: string) => writeAll(1, text);

/** When all modules are loaded, nothing else is left to do. */
setTimeout(() => {
  const startedAt = realNow();
  const cpu = process.cpuUsage();
  let toldAt = startedAt;
  let narrator: Narrator | undefined;
  const { kinds, only, without, ...parts } = order;
  const result = new Simulation({
    ...parts,
    faults: kinds?.length !== 0,
    kinds,
    isLeftOut: only ? (fault) => !only.includes(fault) : (fault) => without.includes(fault),
    openJournal: (world) => {
      if (!narration) return new Journal(world);
      const about = narration.kind === 'story' ? narration.about : undefined;
      return (narrator = new Narrator(world, about, write));
    },
    onProgress: (virtualTime, lives) => {
      if (realNow() - toldAt < PROGRESS) return;
      toldAt = realNow();
      tell({ kind: 'progress', virtualTime, lives });
    },
  }).run();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (realNow() - startedAt) / 1000;
  narrator?.end();
  const { scenario, ...rest } = result;
  tell({
    kind: 'report',
    report: {
      ...{ ...rest, processes: scenario.processes, seconds, cpuSeconds: (user + system) / 1e6 },
      ...{ heap: heapInUse(), peak: process.resourceUsage().maxRSS / 1e3 },
    },
  });
  process.exit();
}, 0);

/** MB of the heap that something still refers to. */
function heapInUse(): number {
  gc!({ execution: 'sync' });
  return process.memoryUsage().heapUsed / 1e6;
}

/** Writes all of a text. While whoever reads is slower, it waits: the event loop does not turn. */
function writeAll(file: number, text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
