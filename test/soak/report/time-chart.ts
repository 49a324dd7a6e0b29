import type { CustomSeriesOption, LineSeriesOption, YAXisComponentOption } from 'echarts';
import { drawSvg } from '../../../bench/src/report/draw-svg.js';

const WIDTH = 1200;
const LEFT = 190;
const RIGHT = 15;
const GAP = 18;
const CLOCK = 16;
const LEGEND = 24;

/** The page has the colours, so that a chart follows its scheme. */
const QUIET = { color: 'var(--quiet)' };
const BARE = { axisLine: { show: false }, axisTick: { show: false } };
const RULES = { show: true, lineStyle: { color: 'var(--rule)' } };

/** A part of a chart, with a scale of its own. */
export interface Panel {
  readonly height: number;
  readonly yAxis: YAXisComponentOption;
  readonly series: readonly (LineSeriesOption | CustomSeriesOption)[];
}

export interface TimeChart {
  /** One below the other, under the same clock. */
  readonly panels: readonly Panel[];
  /** Where the clock ends, ms since the run's epoch. */
  readonly end: number;
  readonly legend?: boolean;
  readonly label: string;
}

export function drawTimeChart({ panels, end, label, legend = false }: TimeChart): string {
  let bottom = legend ? LEGEND : 0;
  const tops = panels.map(({ height }) => (bottom += GAP + height) - height);
  return drawSvg(
    {
      useUTC: true,
      textStyle: { fontFamily: 'system-ui, sans-serif' },
      legend: { show: legend, left: 0, top: 0, itemGap: 36, itemWidth: 16, itemHeight: 10, textStyle: QUIET },
      grid: panels.map(({ height }, i) => ({
        left: LEFT,
        right: RIGHT,
        top: tops[i]!,
        height,
        outerBoundsMode: 'none',
      })),
      xAxis: panels.map((_, i) => ({
        ...BARE,
        type: 'time',
        gridIndex: i,
        min: 0,
        max: end,
        splitLine: RULES,
        axisLabel: { ...QUIET, show: i === panels.length - 1, formatter: clock },
      })),
      yAxis: panels.map(({ yAxis }, i) => ({ ...BARE, splitLine: RULES, axisLabel: QUIET, gridIndex: i, ...yAxis })),
      series: panels.flatMap(({ series }, i) => series.map((one) => ({ ...one, xAxisIndex: i, yAxisIndex: i }))),
    },
    { label, width: WIDTH, height: bottom + GAP + CLOCK },
  );
}

export function line(name: string, data: LineSeriesOption['data'], style: { color: string; width: number }) {
  const { color, width } = style;
  return { type: 'line', name, data, color, lineStyle: { width }, symbol: 'none' } as const;
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
