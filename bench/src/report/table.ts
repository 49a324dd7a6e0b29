import { type Results, ratio, type Row } from '../results.js';
import { systemOf } from '../systems.js';
import { formatFigure, formatRatio } from './format.js';

/**
 * The results as a Markdown table: for each figure the median of every system with its spread, then the figure of the
 * first system divided by that of each other system.
 */
export function toMarkdown({ rows, systems }: Results): string {
  const [first, ...others] = systems;
  const titles = [
    '',
    'better',
    ...systems.map((name) => systemOf(name).title),
    ...others.map((name) => `÷ ${systemOf(name).title}`),
  ];
  const cells = rows.map((row) => [
    `${row.scenario}: ${row.figure.title}`,
    row.figure.better === 'more' ? '↑' : '↓',
    ...systems.map((name) => measuredCell(row, name)),
    ...others.map((name) => ratioCell(row, first!, name)),
  ]);
  return layOut(titles, cells);
}

function measuredCell({ figure, systems }: Row, name: string): string {
  const summary = systems[name];
  if (!summary) return '–';
  const spread = summary.values.length > 1 ? ` ±${Math.round(summary.spread * 100)}%` : '';
  return `${formatFigure(summary.median, figure.unit)}${spread}`;
}

function ratioCell(row: Row, first: string, other: string): string {
  const value = ratio(row, first, other);
  return value === undefined ? '–' : formatRatio(value);
}

/** Aligns all columns but the first to the right, and pads them as Prettier does. */
export function layOut(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = titles.map((title, i) => Math.max(3, title.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(titles), line(rule), ...cells.map(line)].join('\n');
}
