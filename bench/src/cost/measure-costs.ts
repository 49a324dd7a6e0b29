import type { Interval } from '../measure/median-interval.js';
import { countAllocated } from './allocations.js';
import type { ProcessCosts } from './budgets.js';
import { compareCpu, type Pair } from './rounds.js';
import type { Workload } from './workloads.js';

/**
 * Measures what messages cost the process of the first system.
 *
 * @param isEnough - whether the processor time of a workload needs no further round
 */
export async function measureCosts(
  pair: Pair,
  workloads: readonly Workload[],
  {
    isEnough,
    limit,
    onProgress,
  }: {
    readonly isEnough: (workload: string, interval: Interval) => boolean;
    /** For how long the processor time of a workload is compared at most, ms. */
    readonly limit: number;
    readonly onProgress: (line: string) => void;
  },
): Promise<ProcessCosts> {
  const cpu: Record<string, Interval> = {};
  const allocated: Record<string, number> = {};
  const { systems, libraries } = pair;
  for (const workload of workloads) {
    const { name, title } = workload;
    onProgress(`cost · ${systems[0].title} · ${title}`);
    allocated[name] = await countAllocated(systems[0], libraries[0], workload);
    cpu[name] = await compareCpu(pair, workload, {
      isEnough: (interval) => isEnough(name, interval),
      limit,
    });
  }
  return { cpu, allocated };
}
