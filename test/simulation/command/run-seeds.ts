import type { Figures } from '../../../release/proof-record.js';
import { whole } from './report-text.js';
import type { RunOrder } from './run-order.js';
import { isFailure, type RunOutcome } from './run-in-process.js';

export interface Ran {
  readonly order: RunOrder;
  readonly outcome: RunOutcome;
}

export interface SeedsOptions {
  readonly orders: readonly RunOrder[];
  /** The number of runs at a time. */
  readonly jobs: number;
  readonly run: (order: RunOrder) => Promise<RunOutcome>;
  readonly onEnd: (ran: Ran) => Promise<void> | void;
}

/** Runs several orders side by side. */
export async function runSeeds({ orders, jobs, run, onEnd }: SeedsOptions): Promise<Ran[]> {
  const waiting = [...orders];
  const all: Ran[] = [];
  const work = async () => {
    for (let order = waiting.shift(); order; order = waiting.shift()) {
      const ran = { order, outcome: await run(order) };
      all.push(ran);
      await onEnd(ran);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, orders.length) }, work));
  return all;
}

export const isBad = ({ outcome }: Ran): boolean => isFailure(outcome) || outcome.violations.length > 0;

/** Counts over all runs. */
export function totalsOf(all: readonly Ran[]): Figures & { readonly lives: number } {
  const reports = all.flatMap(({ outcome }) => (isFailure(outcome) ? [] : [outcome]));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const failures = all.length - reports.length;
  return {
    seeds: all.length,
    lives: sum(reports.map((report) => report.lives)),
    faults: sum(reports.map((report) => report.faultNumbers.length)),
    violations: sum(reports.map((report) => report.violations.length)),
    ...(failures > 0 && { 'crashed or hung': failures }),
  };
}

/** @param seconds - how long all of it took, by the clock on the wall */
export function totalOf(all: readonly Ran[], seconds: number): string {
  const { lives, ...others } = totalsOf(all);
  const counts = Object.entries({ lives, ...others }).map(([what, count]) => `${whole(Number(count))} ${what}`);
  return `total: ${counts.join(', ')} in ${seconds.toFixed(1)} s, ${whole((lives / seconds) * 60)} lives a minute`;
}
