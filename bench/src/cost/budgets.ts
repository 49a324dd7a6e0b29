import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import type { Verdict } from '../check.js';
import type { Interval } from '../measure/median-interval.js';
import { formatDifference, formatRatio } from '../report/format.js';
import type { Workload } from './workloads.js';

/** How far above its budget the processor time may be: the smallest difference that enough rounds can tell from noise. */
const CPU_TOLERANCE = 0.05;
/** How far from its budget the number of bytes may be, upwards or downwards. */
const BYTES_TOLERANCE = 0.005;
/** A budget is as good as the rounds it comes from: the widest interval of one, as a share of the median. */
const WIDEST = 0.05;

/** What each message costs the process, by workload. */
export interface ProcessCosts {
  /** Processor time as a multiple of the baseline's. */
  readonly cpu: Readonly<Record<string, Interval>>;
  /** Bytes allocated per message. */
  readonly allocated: Readonly<Record<string, number>>;
}

/** Content of the file of budgets. */
interface Budgets {
  /** The version of Node.js that the budgets are of: another one compiles and allocates differently. */
  readonly node: string;
  readonly cpu: Readonly<Record<string, number>>;
  readonly allocated: Readonly<Record<string, number>>;
}

/** Compares what messages cost the process with the budgets in a file. */
export class ProcessBudgets {
  constructor(private readonly file: string) {}

  check({ cpu, allocated }: ProcessCosts, workloads: readonly Workload[]): Verdict[] {
    const budgets = this.#read();
    return workloads.flatMap(({ name, title }) => [
      verdictOnCpu(`${title}: process CPU`, cpu[name]!, budgets.cpu[name]),
      verdictOnBytes(`${title}: process allocations`, allocated[name]!, budgets.allocated[name]),
    ]);
  }

  /** True if an interval decides, so no further round is needed. */
  decides(workload: string, interval: Interval): boolean {
    const budget = this.#read().cpu[workload];
    return budget === undefined || outcomeOf(interval, budget) !== 'undecided';
  }

  /** True if an interval is narrow enough to become a budget. */
  isNarrow({ low, median, high }: Interval): boolean {
    return (high - low) / median <= WIDEST;
  }

  write({ cpu, allocated }: ProcessCosts): void {
    const medians = Object.entries(cpu).map(([name, { median }]) => [name, Number(median.toFixed(3))] as const);
    const budgets: Budgets = { node: nodeHere(), cpu: Object.fromEntries(medians), allocated };
    writeFileSync(this.file, `${JSON.stringify(budgets, null, 2)}\n`);
  }

  /** @throws with words for the user, if costs on this machine cannot be compared with the budgets */
  assertSuits(): void {
    const { node } = this.#read();
    if (node !== nodeHere()) throw new Error(`the budgets are those of ${node}, and this is ${nodeHere()}`);
  }

  #read(): Budgets {
    return JSON.parse(readFileSync(this.file, 'utf8')) as Budgets;
  }
}

function verdictOnCpu(title: string, interval: Interval, budget: number | undefined): Verdict {
  if (budget === undefined) return { outcome: 'broken', words: `${title}: no budget` };
  const { low, median, high } = interval;
  const measured = `${formatRatio(median)} the baseline (${formatRatio(low)} to ${formatRatio(high)})`;
  const words = `${title}: ${measured}, ${formatDifference(median / budget - 1)} (budget: ${formatRatio(budget)} +${CPU_TOLERANCE * 100} %)`;
  return { outcome: outcomeOf(interval, budget), words };
}

function outcomeOf({ low, high }: Interval, budget: number): Verdict['outcome'] {
  const limit = budget * (1 + CPU_TOLERANCE);
  if (high <= limit) return 'kept';
  return low > limit && !isBusy() ? 'broken' : 'undecided';
}

/** True if others use the processors as well, which costs one system more than the other in all rounds. */
function isBusy(): boolean {
  return loadavg()[0]! > cpus().length;
}

function verdictOnBytes(title: string, bytes: number, budget: number | undefined): Verdict {
  if (budget === undefined) return { outcome: 'broken', words: `${title}: no budget` };
  const difference = bytes / budget - 1;
  const words = `${title}: ${bytes.toLocaleString('en')} bytes, ${formatDifference(difference)} (budget: ${budget.toLocaleString('en')} ±${BYTES_TOLERANCE * 100} %)`;
  return { outcome: Math.abs(difference) <= BYTES_TOLERANCE ? 'kept' : 'broken', words };
}

/** Minor versions of Node.js hardly change its compiler. */
function nodeHere(): string {
  return `Node ${process.versions.node.split('.')[0]!}, ${process.arch}`;
}
