import { type Interval, medianInterval } from '../measure/median-interval.js';
import { distributionOf } from '../measure/percentiles.js';
import { Stage } from '../measure/stage.js';
import type { System } from '../systems.js';
import type { Portions, Workload } from './workloads.js';

/** Two systems, the second of which the first is compared with. */
export interface Pair {
  readonly systems: readonly [System, System];
  /** The folder of the built library, for each system. */
  readonly libraries: readonly [string, string];
}

/** When to stop. */
export interface Patience {
  /** True if no further round is needed. Called once there are enough for an interval. */
  readonly isEnough: (interval: Interval) => boolean;
  /** Milliseconds after which no further round begins. */
  readonly limit: number;
}

/** Node.js compiles code after some runs. */
const WARM_UP = 2;
const PORTIONS = 10;
/**
 * Measures how much processor time the first system takes for a message, as a multiple of the second, in as many rounds as it takes.
 *
 * @returns the interval, which may not be enough if the machine is too busy
 */
export async function compareCpu(pair: Pair, workload: Workload, { isEnough, limit }: Patience): Promise<Interval> {
  const ratios: number[] = [];
  const end = performance.now() + limit;
  for (;;) {
    ratios.push(await measureRound(pair, workload));
    const interval = medianInterval(ratios);
    if (interval && (isEnough(interval) || performance.now() > end)) return interval;
  }
}

/**
 * One round: both systems in fresh processes, because compiled code differs from process to process. They work on small portions in
 * turn, so that both have their share of whatever else the machine does. Other work only ever adds to the time of a portion, so the
 * faster quarter of the portions tells most about the code.
 */
async function measureRound({ systems, libraries }: Pair, workload: Workload): Promise<number> {
  const open = (i: 0 | 1) => Stage.open({ system: systems[i], size: 'quick', library: libraries[i], cluster: false });
  const stages = await Promise.all([open(0), open(1)]);
  try {
    const all = await Promise.all(stages.map((stage) => workload.start(stage)));
    const costs = all.map((): number[] => []);
    for (let portion = 0; portion < WARM_UP + PORTIONS; portion++) {
      for (const i of portion % 2 === 0 ? [0, 1] : [1, 0]) {
        const cpu = await cpuOfPortion(all[i]!);
        if (portion >= WARM_UP) costs[i]!.push(cpu);
      }
    }
    const [first, second] = costs.map((cpu) => distributionOf(cpu).p25);
    return first! / second!;
  } finally {
    await Promise.all(stages.map((stage) => stage.close()));
  }
}

async function cpuOfPortion({ process, prepare, work }: Portions): Promise<number> {
  await prepare();
  const before = await process.ask('usage');
  await work();
  const after = await process.ask('usage');
  return after.cpu - before.cpu;
}
