import type { Sample } from '../observer/sample.js';
import { count, mebibytes } from './summary.js';
import { drawTimeChart, line, type Panel } from './time-chart.js';

const HEIGHT = 56;

/** A small curve for each thing that should stay flat, or follow the load. */
export function growthChart(samples: readonly Sample[], end: number): string {
  const panel = (
    name: string,
    read: (sample: Sample) => number | undefined,
    show: (value: number) => string,
  ): Panel => {
    const values = samples.map((sample) => read(sample) ?? NaN);
    const highest = Math.max(1, ...values.filter((value) => !Number.isNaN(value)));
    const formatter = (value: number) => (value === 0 ? '0' : show(value));
    return {
      height: HEIGHT,
      yAxis: {
        type: 'value',
        max: highest,
        interval: highest,
        axisLabel: { color: 'var(--quiet)', formatter },
        name,
        nameLocation: 'middle',
        nameRotate: 0,
        nameGap: 8,
        nameMoveOverlap: false,
        nameTextStyle: { color: 'var(--text)', align: 'right' },
      },
      series: [
        line(
          name,
          samples.map(({ at }, i) => [at, values[i]!]),
          { color: 'var(--p99)', width: 1.4 },
        ),
      ],
    };
  };
  const processes = Object.keys(samples.at(-1)?.rss ?? {}).map(Number);
  const panels = [
    panel('messages', ({ stored }) => stored, count),
    panel('Redis memory', ({ usedMemory }) => usedMemory, mebibytes),
    panel('connections', ({ connections }) => connections, count),
    ...processes.map((index) => panel(`process ${index} memory`, ({ rss }) => rss[index], mebibytes)),
  ];
  return drawTimeChart({ panels, end, label: 'Messages, memory and connections over time' });
}
