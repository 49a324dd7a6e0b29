import { distributionOf } from '../measure/percentiles.js';
import { Stage } from '../measure/stage.js';
import type { System } from '../systems.js';
import type { Workload } from './workloads.js';

/**
 * Makes allocations countable. Garbage is only collected when asked for, because the heap has room for a portion. And nothing is
 * optimized: the compiler leaves out some objects, but not the same in every process.
 */
const NODE_OPTIONS = ['--no-opt', '--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'];
const WARM_UP = 2;
const PORTIONS = 5;
/** Counts differ by a few tenths of a percent from process to process. */
const PROCESSES = 3;

/** How many bytes a process allocates for a message. The count hardly depends on how busy the machine is. */
export async function countAllocated(system: System, library: string, workload: Workload): Promise<number> {
  const counts: number[] = [];
  for (let i = 0; i < PROCESSES; i++) counts.push(await countInProcess(system, library, workload));
  return distributionOf(counts).p50;
}

async function countInProcess(system: System, library: string, workload: Workload): Promise<number> {
  const stage = await Stage.open({ system, size: 'quick', library, cluster: false, nodeOptions: NODE_OPTIONS });
  try {
    const { process, prepare, work } = await workload.start(stage);
    const bytes: number[] = [];
    for (let portion = 0; portion < WARM_UP + PORTIONS; portion++) {
      await prepare();
      const before = await process.ask('usageAfterGc');
      await work();
      const after = await process.ask('usage');
      if (portion >= WARM_UP) bytes.push(after.heap - before.heap);
    }
    return Math.round(distributionOf(bytes).p50 / workload.messages);
  } finally {
    await stage.close();
  }
}
