import type { FaultWindow } from '../nemesis/fault-window.js';
import type { LatenessSecond } from '../oracle/verdict.js';
import { groupOf } from './palette.js';
import { escape, path, round, TimeAxis } from './svg.js';

const TOP = 16;
const BOTTOM = 330;
const LOWEST = 1;

/** How late messages were, second by second, on a logarithmic scale; what was wrong, behind it. */
export function latenessChart(
  seconds: readonly LatenessSecond[],
  windows: readonly FaultWindow[],
  axis: TimeAxis,
): string {
  const highest = 10 ** Math.ceil(Math.log10(Math.max(100, ...seconds.map(({ max }) => max))));
  const y = (ms: number) => {
    const share = Math.log10(Math.max(LOWEST, ms) / LOWEST) / Math.log10(highest / LOWEST);
    return round(BOTTOM - share * (BOTTOM - TOP));
  };
  const line = (which: 'p50' | 'p99' | 'max') => {
    const d = path(withGaps(seconds).map((at) => at && [axis.x(at.second + 0.5), y(at[which])]));
    return `<path class="line ${which}" d="${d}"/>`;
  };
  return `<svg viewBox="0 0 ${TimeAxis.WIDTH} ${BOTTOM + 24}" role="img" aria-label="Lateness over time">
${bands(windows, axis)}
${scale(highest, y)}
${axis.marks(TOP, BOTTOM)}
${line('max')}${line('p99')}${line('p50')}
</svg>`;
}

function bands(windows: readonly FaultWindow[], axis: TimeAxis): string {
  return windows
    .map(({ kind, from, to, detail }) => {
      const [x, end] = [axis.x(from / 1000), axis.x(to / 1000)];
      const title = `${kind}: ${detail}`;
      return `<rect class="band ${groupOf(kind)}" x="${x}" y="${TOP}" width="${round(Math.max(1, end - x))}" height="${BOTTOM - TOP}"><title>${escape(title)}</title></rect>`;
    })
    .join('');
}

function scale(highest: number, y: (ms: number) => number): string {
  let marks = '';
  for (let ms = LOWEST; ms <= highest; ms *= 10) {
    const name = ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
    marks += `<line class="grid" x1="${TimeAxis.LEFT}" x2="${TimeAxis.RIGHT}" y1="${y(ms)}" y2="${y(ms)}"/>`;
    marks += `<text class="tick" x="${TimeAxis.LEFT - 8}" y="${y(ms) + 4}" text-anchor="end">${name}</text>`;
  }
  return marks;
}

/** Undefined where no message fell due in between: a line would claim something there. */
function withGaps(seconds: readonly LatenessSecond[]): (LatenessSecond | undefined)[] {
  return seconds.flatMap((at, i) => {
    const before = seconds[i - 1];
    return before && at.second > before.second + 1 ? [undefined, at] : [at];
  });
}
