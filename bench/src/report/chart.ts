import { ratio, type Results, type Row } from '../results.js';
import { OURS, systemOf } from '../systems.js';
import { formatRatio } from './format.js';

const WIDTH = 1000;
const ROW = 22;
const TOP = 76;
const LEFT = 380;
const RIGHT = 40;
const BOTTOM = 24;
/** Of the scale, which is logarithmic; what lies beyond is drawn at its end. */
const LEAST = 0.1;
const MOST = 100;
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const COLOURS: Readonly<Record<string, string>> = {
  floor: '#8a8f98',
  bullmq: '#d1495b',
  'bee-queue': '#e0a100',
  'redisson-layout': '#6a4c93',
  earlier: '#3d7ea6',
};

/** How many times better this package is than each other system, a line for each figure: to the right is better. */
export function toChart({ rows, systems }: Results): string {
  const others = systems.filter((name) => name !== OURS);
  const lines = rows.filter((row) => others.some((name) => advantage(row, name) !== undefined));
  const height = TOP + lines.length * ROW + BOTTOM;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`,
    '  font-family="system-ui, sans-serif" font-size="12" fill="#24292f">',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text({ x: 12, y: 24, size: 15 }, 'How many times better this package is'),
    ...others.map((name, i) => legend(name, LEFT + i * 120)),
    ...TICKS.map((tick) => tickLine(tick, height)),
    ...lines.flatMap((row, i) => rowLine(row, TOP + i * ROW + ROW / 2, others)),
    '</svg>',
    '',
  ].join('\n');
}

/** More than 1 is in favour of this package, whatever is better for the figure. */
function advantage(row: Row, name: string): number | undefined {
  return row.figure.better === 'more' ? ratio(row, OURS, name) : ratio(row, name, OURS);
}

function legend(name: string, x: number): string {
  return `<circle cx="${x}" cy="20" r="5" fill="${colourOf(name)}"/>${text({ x: x + 10, y: 24 }, `than ${systemOf(name).title}`)}`;
}

function tickLine(tick: number, height: number): string {
  const x = xOf(tick);
  const stroke = tick === 1 ? 'stroke="#24292f"' : 'stroke="#d8dee4"';
  return [
    `<line x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height - BOTTOM}" ${stroke}/>`,
    text({ x, y: TOP - 14, anchor: 'middle' }, formatRatio(tick)),
  ].join('');
}

function rowLine(row: Row, y: number, others: readonly string[]): string[] {
  const dots = others.flatMap((name) => {
    const value = advantage(row, name);
    return value === undefined ? [] : [dot(xOf(value), y, name, value)];
  });
  return [
    text({ x: LEFT - 14, y: y + 4, anchor: 'end' }, `${row.scenario}: ${row.figure.title}`),
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" stroke="#eef1f4"/>`,
    ...dots,
  ];
}

function dot(x: number, y: number, name: string, value: number): string {
  const title = `${systemOf(name).title}: ${formatRatio(value)}`;
  return `<circle cx="${x}" cy="${y}" r="5" fill="${colourOf(name)}" fill-opacity="0.85"><title>${escape(title)}</title></circle>`;
}

function xOf(value: number): number {
  const share = Math.log(value / LEAST) / Math.log(MOST / LEAST);
  return Math.round(LEFT + Math.min(1, Math.max(0, share)) * (WIDTH - LEFT - RIGHT));
}

function colourOf(name: string): string {
  return COLOURS[name] ?? '#000000';
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly anchor?: 'middle' | 'end';
}

function text({ x, y, size = 12, anchor }: Place, words: string): string {
  const anchored = anchor ? ` text-anchor="${anchor}"` : '';
  return `<text x="${x}" y="${y}" font-size="${size}"${anchored}>${escape(words)}</text>`;
}

function escape(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
