import type { FaultWindow } from '../nemesis/fault-window.js';
import { faultSeries } from './fault-series.js';
import { FAULT_GROUPS, groupOf } from './palette.js';
import { kindsOf } from './summary.js';
import { drawTimeChart } from './time-chart.js';

const ROW = 20;
const BAR = 12;

/** Draws a row for each kind of fault. */
export function faultChart(windows: readonly FaultWindow[], end: number): string {
  const group = (kind: string) => FAULT_GROUPS.indexOf(groupOf(kind));
  const names = kindsOf(windows).map(([kind]) => kind);
  const kinds = names.sort((a, b) => group(a) - group(b) || a.localeCompare(b));
  const panel = {
    height: kinds.length * ROW,
    yAxis: {
      type: 'category' as const,
      data: kinds,
      inverse: true,
      axisLabel: { color: 'var(--text)', interval: 0 },
    },
    series: faultSeries(windows, { yOf: (kind) => kinds.indexOf(kind), height: BAR, opacity: 1 }),
  };
  return drawTimeChart({ panels: [panel], end, label: 'Faults over time' });
}
