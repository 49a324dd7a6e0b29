import { dirname } from 'node:path';
import { type Kill, STAGES, type Stage } from './judge.js';
import type { Drawn } from './draw.js';

/** The result for a mutant. */
export interface Verdict {
  readonly mutant: Drawn;
  /** The check that detected it, the reason why none can, or the stages that it survived. */
  readonly outcome: Kill | { readonly equivalent: string } | { readonly survived: readonly Stage[] };
}

type Row = Record<Column, number>;
const COLUMNS = ['mutants', ...STAGES, 'survived', 'equivalent'] as const;
type Column = (typeof COLUMNS)[number];

/** Draws a table in Markdown: how many mutants of each folder each stage notices. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const rows = new Map<string, Row>();
  for (const { mutant, outcome } of verdicts) {
    const area = areaOf(mutant.file);
    const row = rows.get(area) ?? emptyRow();
    row.mutants++;
    row[columnOf(outcome)]++;
    rows.set(area, row);
  }
  const total = [...rows.values()].reduce((sum, row) => {
    for (const column of COLUMNS) sum[column] += row[column];
    return sum;
  }, emptyRow());
  const lines = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([area, row]) => lineOf(area, row));
  const head = ['area', 'mutants', 'related suites', 'simulation', '`npm test`', 'others', 'survived', 'equivalent'];
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'));
  return [head.join(' | '), rule.join(' | '), ...lines, lineOf('all', total)].map((line) => `| ${line} |`).join('\n');
}

/** Says in a sentence how many mutants are noticed by then, equivalent ones left out. */
export function rateOf(verdicts: readonly Verdict[], stages: readonly Stage[]): string {
  const counted = verdicts.filter(({ outcome }) => !('equivalent' in outcome));
  const killed = counted.filter(({ outcome }) => 'by' in outcome && stages.includes(outcome.stage)).length;
  const percent = counted.length === 0 ? 0 : (100 * killed) / counted.length;
  return `${killed} of ${counted.length} (${percent.toFixed(0)} %)`;
}

function columnOf(outcome: Verdict['outcome']): Column {
  if ('equivalent' in outcome) return 'equivalent';
  return 'survived' in outcome ? 'survived' : outcome.stage;
}

/** `lib/store/native/lua/modules/take.lua` → `store/native/lua`. */
function areaOf(file: string): string {
  const [, first = '', second, third] = dirname(file).split('/');
  const parts = first === 'store' ? [first, second, third] : [first];
  return parts.filter(Boolean).join('/') || 'module';
}

function lineOf(area: string, row: Row): string {
  return [area, ...COLUMNS.map((column) => row[column] || '')].join(' | ');
}

function emptyRow(): Row {
  return Object.fromEntries(COLUMNS.map((column) => [column, 0])) as Row;
}
