import type { Row } from './comparison.js';
import type { Figure } from './measurements.js';

/** Medians as a Markdown table; the first contestant's as a multiple of each other's. */
export function toMarkdown(titles: readonly string[], rows: readonly Row[]): string {
  const [, ...others] = titles;
  const cells = rows.map((row) => {
    const medians = row.figures.map(median);
    const ratios = medians.slice(1).map((other) => ratioCell(row, medians[0]!, other));
    return [row.title, row.pending.toLocaleString('en'), ...medians.map((figure) => cell(row, figure)), ...ratios];
  });
  return layOut(['', 'pending', ...titles, ...others.map((title) => `÷ ${title}`)], cells);
}

/** A bound counts as what it is at best. */
function median(figures: readonly Figure[]): Figure {
  return figures.toSorted((a, b) => a.value - b.value)[Math.floor(figures.length / 2)]!;
}

function cell({ unit, better }: Row, { value, isBound }: Figure): string {
  const bound = isBound ? (better === 'more' ? '< ' : '> ') : '';
  return `${bound}${significant(value)}${unit.startsWith('/') ? unit : ` ${unit}`}`;
}

/** How many times better the first is. */
function ratioCell({ better }: Row, ours: Figure, other: Figure): string {
  const ratio = better === 'more' ? ours.value / other.value : other.value / ours.value;
  return `${other.isBound ? '> ' : ''}${significant(ratio)}×`;
}

function significant(value: number): string {
  return Number(value.toPrecision(value < 1000 ? 2 : 3)).toLocaleString('en');
}

/** All columns but the first are aligned to the right; as wide as the widest cell, as Prettier would have it. */
function layOut(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = titles.map((title, i) => Math.max(3, title.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(titles), line(rule), ...cells.map(line)].join('\n');
}
