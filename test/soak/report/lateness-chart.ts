import type { FaultWindow } from '../nemesis/fault-window.js';
import type { LatenessSecond } from '../oracle/verdict.js';
import { faultSeries } from './fault-series.js';
import { drawTimeChart, line } from './time-chart.js';

const HEIGHT = 314;
/** The scale is logarithmic, and starts here. */
const MIN = 1;

/** The lateness of the messages due in each second, in front of the faults. */
export function latenessChart(
  seconds: readonly LatenessSecond[],
  windows: readonly FaultWindow[],
  end: number,
): string {
  const curve = (which: 'p50' | 'p99' | 'max', width: number) => {
    const points = seconds.flatMap((at, i) => {
      const point = [(at.second + 0.5) * 1000, Math.max(MIN, at[which])];
      // The line has a gap where no message fell due for a second.
      return seconds[i - 1]?.second === at.second - 1 ? [point] : [[at.second * 1000, NaN], point];
    });
    return line(which, points, { color: `var(--${which})`, width });
  };
  const panel = {
    height: HEIGHT,
    yAxis: { type: 'log' as const, min: MIN, axisLabel: { color: 'var(--quiet)', formatter: duration } },
    series: [
      curve('max', 1),
      curve('p99', 1.6),
      curve('p50', 1.8),
      ...faultSeries(windows, { yOf: () => MIN, height: 2 * HEIGHT, opacity: 0.13 }),
    ],
  };
  return drawTimeChart({ panels: [panel], end, label: 'Lateness over time', legend: true });
}

function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
