import { formatRatio } from './report/format.js';
import { ratio, type Row } from './results.js';
import { BASELINE, OURS } from './systems.js';

/** The worst multiple of the baseline that a figure of this package may be. */
interface Limit {
  readonly scenario: string;
  readonly figure: string;
  readonly worst: number;
}

/**
 * Limits for the figures that depend least on how busy the machine is: processor time, calls, bytes. They are wide
 * nevertheless, so that noise does not break one.
 */
export const LIMITS: readonly Limit[] = [
  { scenario: 'Offers', figure: 'cpuInFlight', worst: 3 },
  { scenario: 'Draining a backlog', figure: 'calls', worst: 6 },
  { scenario: 'Draining a backlog', figure: 'redisCpu', worst: 4 },
  { scenario: 'Draining a backlog', figure: 'processCpu', worst: 8 },
  { scenario: 'Redis memory per message', figure: '200', worst: 1.25 },
];

export interface Verdict {
  /** `undecided`: the machine is too busy to tell. */
  readonly outcome: 'kept' | 'broken' | 'undecided';
  readonly words: string;
}

/** Checks each limit. A figure that was not measured has not passed. */
export function check(rows: readonly Row[]): Verdict[] {
  return LIMITS.map(({ scenario, figure, worst }) => {
    const row = rows.find((candidate) => candidate.scenario === scenario && candidate.figure.key === figure);
    const measured = row && ratio(row, OURS, BASELINE);
    if (!row || measured === undefined) return { outcome: 'broken', words: `${scenario}, ${figure}: not measured` };
    const more = row.figure.better === 'more';
    const passed = more ? measured >= worst : measured <= worst;
    const limit = `${more ? 'at least' : 'at most'} ${formatRatio(worst)}`;
    const words = `${scenario}, ${row.figure.title}: ${formatRatio(measured)} the baseline (limit: ${limit})`;
    return { outcome: passed ? 'kept' : 'broken', words };
  });
}
