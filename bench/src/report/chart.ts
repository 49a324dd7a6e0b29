import type { MarkLineComponentOption } from 'echarts';
import { ratio, type Results, type Row } from '../results.js';
import { systemOf } from '../systems.js';
import { drawSvg } from './draw-svg.js';
import { formatRatio } from './format.js';

/** The ends of the scale. A dot beyond an end is drawn there. */
const MIN = 0.1;
const MAX = 100;

const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

const WIDTH = 1000;
const ROW = 22;
const TOP = 84;
const BOTTOM = 24;
const LEFT = 400;
const COLOURS: Readonly<Record<string, string>> = {
  baseline: '#8a8f98',
  bullmq: '#d1495b',
  'bee-queue': '#e0a100',
  'pg-boss': '#2e8b57',
  'expired-keys': '#b07aa1',
  'redisson-layout': '#6a4c93',
  'redisson-3.20': '#d1495b',
  'redisson-4': '#e0a100',
  earlier: '#3d7ea6',
};
const TEXT = '#24292f';
const RULE = '#d8dee4';

/** Marks where both systems are equal. */
const EQUAL: MarkLineComponentOption = {
  symbol: 'none',
  label: { show: false },
  lineStyle: { color: TEXT, type: 'solid' },
  data: [{ xAxis: 1 }],
};

/** How many times better the first system is than each other, a line for each figure: right is better. */
export function toChart({ rows, systems }: Results): string {
  const [first, ...others] = systems;
  const title = `How many times better ${systemOf(first!).title} is`;
  const lines = rows.filter((row) => others.some((other) => advantage(row, first!, other) !== undefined));
  const dots = (other: string) =>
    lines.flatMap((row, line) => {
      const value = advantage(row, first!, other);
      return value === undefined ? [] : [dot(value, line, systemOf(other).title)];
    });
  return drawSvg(
    {
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: 'system-ui, sans-serif' },
      title: {
        text: title,
        left: 12,
        top: 10,
        textStyle: { fontSize: 15, fontWeight: 'normal', color: TEXT },
      },
      legend: { left: LEFT, top: 12, itemGap: 20, textStyle: { color: TEXT } },
      grid: { left: LEFT, right: 40, top: TOP, bottom: BOTTOM, outerBoundsMode: 'none' },
      xAxis: {
        type: 'log',
        min: MIN,
        max: MAX,
        position: 'top',
        axisLine: { show: false },
        axisTick: { show: false, customValues: TICKS },
        splitLine: { lineStyle: { color: RULE } },
        axisLabel: { color: TEXT, formatter: formatRatio, customValues: TICKS },
      },
      yAxis: {
        type: 'category',
        data: lines.map(({ scenario, figure }) => `${scenario}: ${figure.title}`),
        inverse: true,
        axisLine: { show: false },
        axisTick: { show: false },
        splitLine: { show: true, lineStyle: { color: '#eef1f4' } },
        axisLabel: { color: TEXT, interval: 0 },
      },
      series: [
        ...others.map((other) => ({
          type: 'scatter' as const,
          name: `than ${systemOf(other).title}`,
          color: COLOURS[other] ?? '#000000',
          symbolSize: 10,
          data: dots(other),
        })),
        { type: 'scatter', data: [], markLine: EQUAL },
      ],
    },
    { label: title, width: WIDTH, height: TOP + lines.length * ROW + BOTTOM },
  );
}

/** More than 1 favours the first system, whether more or less is better for the figure. */
function advantage(row: Row, first: string, other: string): number | undefined {
  return row.figure.better === 'more' ? ratio(row, first, other) : ratio(row, other, first);
}

function dot(value: number, line: number, title: string) {
  return { name: `${title}: ${formatRatio(value)}`, value: [Math.min(MAX, Math.max(MIN, value)), line] };
}
