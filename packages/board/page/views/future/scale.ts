/** A chart's axis: where it ends, and the numbers at its lines. */
export interface Scale {
  readonly top: number;
  readonly lines: readonly number[];
}

/** Chooses an axis of two to five lines at round numbers, at least up to a number. */
export function scaleTo(most: number): Scale {
  const largest = Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(largest));
  const steps = [power / 5, power / 2, power, power * 2].map((step) => Math.max(1, step));
  const step = steps.find((size) => Number.isInteger(size) && largest / size <= 5) ?? power;
  const count = Math.ceil(largest / step);
  return { top: count * step, lines: Array.from({ length: count }, (_, i) => (i + 1) * step) };
}
