import { formatRatio } from './report/format.js';
import { ratio, type Row } from './results.js';
import { FLOOR, OURS } from './systems.js';

/** How far from the floor this package may be: a figure of a scenario, and the worst multiple that is let pass. */
interface Limit {
  readonly scenario: string;
  readonly figure: string;
  readonly worst: number;
}

/**
 * Of what depends least on how busy the machine is: processor time, calls, bytes; wide nevertheless. What trips one of
 * these is no noise.
 */
export const LIMITS: readonly Limit[] = [
  { scenario: 'Offers', figure: 'cpuInFlight', worst: 3 },
  { scenario: 'Drain of a backlog', figure: 'calls', worst: 6 },
  { scenario: 'Drain of a backlog', figure: 'redisCpu', worst: 4 },
  { scenario: 'Drain of a backlog', figure: 'processCpu', worst: 8 },
  { scenario: 'Redis memory a message', figure: '200', worst: 1.25 },
];

export interface Verdict {
  readonly passed: boolean;
  readonly words: string;
}

/** Says of each limit whether it is kept. What was not measured has not passed. */
export function check(rows: readonly Row[]): Verdict[] {
  return LIMITS.map(({ scenario, figure, worst }) => {
    const row = rows.find((candidate) => candidate.scenario === scenario && candidate.figure.key === figure);
    const measured = row && ratio(row, OURS, FLOOR);
    if (!row || measured === undefined) return { passed: false, words: `${scenario}, ${figure}: not measured` };
    const more = row.figure.better === 'more';
    const passed = more ? measured >= worst : measured <= worst;
    const words =
      `${scenario}, ${row.figure.title}: ${formatRatio(measured)} of the floor, ` +
      `${more ? 'at least' : 'at most'} ${formatRatio(worst)} is asked for`;
    return { passed, words };
  });
}
