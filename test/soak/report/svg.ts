/** Text that may stand in HTML and SVG. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The x axis that all charts of a report share: seconds of the run. */
export class TimeAxis {
  static readonly WIDTH = 1200;
  static readonly LEFT = 190;
  static readonly RIGHT = 1185;

  constructor(readonly seconds: number) {}

  x(second: number): number {
    const share = Math.min(1, Math.max(0, second / this.seconds));
    return round(TimeAxis.LEFT + share * (TimeAxis.RIGHT - TimeAxis.LEFT));
  }

  /** Marks at round times, below `y`, and lines up to `top`. */
  marks(top: number, y: number): string {
    const step = STEPS.find((candidate) => this.seconds / candidate <= 12) ?? 600;
    const marks: string[] = [];
    for (let second = 0; second <= this.seconds; second += step) {
      const x = this.x(second);
      marks.push(`<line class="grid" x1="${x}" x2="${x}" y1="${top}" y2="${y}"/>`);
      marks.push(`<text class="tick" x="${x}" y="${y + 16}" text-anchor="middle">${clock(second)}</text>`);
    }
    return marks.join('');
  }
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300];

function clock(second: number): string {
  return `${Math.floor(second / 60)}:${String(second % 60).padStart(2, '0')}`;
}

/** A line through points; a gap where one is undefined. */
export function path(points: readonly (readonly [number, number] | undefined)[]): string {
  let pen = 'M';
  let drawn = '';
  for (const point of points) {
    if (point) drawn += `${pen}${round(point[0])} ${round(point[1])}`;
    pen = point ? 'L' : 'M';
  }
  return drawn;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
