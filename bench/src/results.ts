import type { Summary } from './measure/summary.js';
import type { Figure } from './scenarios/scenario.js';

/** One row of the table. */
export interface Row {
  readonly scenario: string;
  readonly figure: Figure;
  /** By the name of the system; those that have no answer are missing. */
  readonly systems: Readonly<Record<string, Summary>>;
}

/** What a run has found. */
export interface Results {
  readonly startedAt: string;
  readonly minutes: number;
  readonly size: string;
  readonly rounds: number;
  /** Names of the systems, in the order of the columns. */
  readonly systems: readonly string[];
  /** What it ran on, by name. */
  readonly environment: Readonly<Record<string, string>>;
  /** Measurements that failed, hence gaps in the rows. */
  readonly failures: readonly string[];
  readonly rows: readonly Row[];
}

/** How many times as much one system does, or takes, as another; undefined: one of them has no figure. */
export function ratio({ systems }: Row, of: string, to: string): number | undefined {
  const [a, b] = [systems[of], systems[to]];
  return a && b && b.median !== 0 ? a.median / b.median : undefined;
}
