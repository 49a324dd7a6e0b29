import type { Summary } from './measure/summary.js';
import type { Figure } from './scenarios/scenario.js';

/** One row of the table. */
export interface Row {
  readonly scenario: string;
  readonly figure: Figure;
  /** By the name of the system. Systems without this figure are missing. */
  readonly systems: Readonly<Record<string, Summary>>;
}

/** The results of a run. */
export interface Results {
  readonly startedAt: string;
  readonly minutes: number;
  readonly size: string;
  readonly rounds: number;
  /** Names of the systems, in the order of the columns. The others are compared with the first. */
  readonly systems: readonly string[];
  /** Hardware and versions, by name. */
  readonly environment: Readonly<Record<string, string>>;
  /** Measurements that failed, and left gaps in the rows. */
  readonly failures: readonly string[];
  readonly rows: readonly Row[];
}

/** The figure of one system divided by that of another. Undefined: one of them has none. */
export function ratio({ systems }: Row, of: string, to: string): number | undefined {
  const [a, b] = [systems[of], systems[to]];
  return a && b && b.median !== 0 ? a.median / b.median : undefined;
}
