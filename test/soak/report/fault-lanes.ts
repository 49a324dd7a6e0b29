import type { FaultWindow } from '../nemesis/fault-window.js';
import { groupOf } from './palette.js';
import { kindsOf } from './summary.js';
import { escape, round, TimeAxis } from './svg.js';

const LANE = 20;
const ORDER = ['server', 'network', 'process', 'machine'] as const;

/** A lane for each kind of fault, with a bar for each time it struck, under the same clock as the lateness. */
export function faultLanes(windows: readonly FaultWindow[], axis: TimeAxis): string {
  const kinds = kindsOf(windows)
    .map(([kind]) => kind)
    .sort((a, b) => ORDER.indexOf(groupOf(a)) - ORDER.indexOf(groupOf(b)) || a.localeCompare(b));
  const height = kinds.length * LANE;
  const lanes = kinds.map((kind, lane) => {
    const y = lane * LANE;
    const bars = windows.filter((window) => window.kind === kind).map((window) => bar(window, y, axis));
    return `<line class="grid" x1="0" x2="${TimeAxis.RIGHT}" y1="${y + LANE}" y2="${y + LANE}"/><text class="lane" x="${TimeAxis.LEFT - 8}" y="${y + 14}" text-anchor="end">${escape(kind)}</text>${bars.join('')}`;
  });
  return `<svg viewBox="0 0 ${TimeAxis.WIDTH} ${height + 24}" role="img" aria-label="Faults over time">
${axis.marks(0, height)}
${lanes.join('\n')}
</svg>`;
}

function bar({ kind, from, to, detail }: FaultWindow, y: number, axis: TimeAxis): string {
  const [x, end] = [axis.x(from / 1000), axis.x(to / 1000)];
  const width = round(Math.max(2.5, end - x));
  return `<rect class="bar ${groupOf(kind)}" x="${x}" y="${y + 4}" width="${width}" height="${LANE - 8}" rx="2"><title>${escape(detail)}</title></rect>`;
}
