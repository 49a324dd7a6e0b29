import type { Sample } from '../observer/sample.js';
import { escape, path, round, TimeAxis } from './svg.js';

const HEIGHT = 70;

/** Something that should stay flat, or follow the load. */
export interface Growth {
  readonly name: string;
  readonly read: (sample: Sample) => number;
  readonly show: (value: number) => string;
}

/** One small curve of what the observer saw, from zero up. */
export function growthChart({ name, read, show }: Growth, samples: readonly Sample[], axis: TimeAxis): string {
  const values = samples.map(read).filter((value) => !Number.isNaN(value));
  const highest = Math.max(1, ...values);
  const y = (value: number) => round(HEIGHT - 2 - (value / highest) * (HEIGHT - 12));
  const points = samples.map((sample) => {
    const value = read(sample);
    return Number.isNaN(value) ? undefined : ([axis.x(sample.at / 1000), y(value)] as const);
  });
  const label = (text: string, at: number) =>
    `<text class="tick" x="${TimeAxis.LEFT - 8}" y="${at}" text-anchor="end">${escape(text)}</text>`;
  return `<svg viewBox="0 0 ${TimeAxis.WIDTH} ${HEIGHT + 4}" role="img" aria-label="${escape(name)}">
<line class="grid" x1="${TimeAxis.LEFT}" x2="${TimeAxis.RIGHT}" y1="${y(0)}" y2="${y(0)}"/>
<line class="grid" x1="${TimeAxis.LEFT}" x2="${TimeAxis.RIGHT}" y1="${y(highest)}" y2="${y(highest)}"/>
<text class="lane" x="${TimeAxis.LEFT - 8}" y="${HEIGHT / 2 + 4}" text-anchor="end">${escape(name)}</text>
${label(show(highest), 14)}${label('0', HEIGHT)}
<path class="line growth" d="${path(points)}"/>
</svg>`;
}
