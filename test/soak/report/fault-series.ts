import type { CustomSeriesOption } from 'echarts';
import type { FaultWindow } from '../nemesis/fault-window.js';
import { FAULT_GROUPS, GROUP_NAMES, groupOf } from './palette.js';

/** A fault that was over at once has this width, in pixels. */
const LEAST_WIDTH = 2.5;

interface BarStyle {
  /** Returns the place on the y axis. */
  readonly yOf: (kind: string) => number;
  /** Pixels; no bar leaves its panel. */
  readonly height: number;
  readonly opacity: number;
}

/** A bar for each time a fault struck, and a series for each group of faults. */
export function faultSeries(windows: readonly FaultWindow[], { yOf, height, opacity }: BarStyle): CustomSeriesOption[] {
  const struck = FAULT_GROUPS.filter((group) => windows.some(({ kind }) => groupOf(kind) === group));
  return struck.map((group) => ({
    type: 'custom',
    z: 1,
    name: `faults of ${GROUP_NAMES[group]}`,
    color: `var(--${group})`,
    clip: true,
    encode: { x: [0, 1], y: 2 },
    data: windows
      .filter(({ kind }) => groupOf(kind) === group)
      .map(({ kind, from, to, detail }) => ({ name: `${kind}: ${detail}`, value: [from, to, yOf(kind)] })),
    renderItem: (_, api) => {
      const [x, y] = api.coord([api.value(0), api.value(2)]) as [number, number];
      const [end] = api.coord([api.value(1), api.value(2)]) as [number];
      return {
        type: 'rect',
        shape: { x, y: y - height / 2, width: Math.max(LEAST_WIDTH, end - x), height },
        style: { fill: `var(--${group})`, opacity },
      };
    },
  }));
}
