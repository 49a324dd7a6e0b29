/** A list of measured values in brief. */
export interface Distribution {
  readonly count: number;
  readonly min: number;
  readonly p25: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function distributionOf(values: readonly number[]): Distribution {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { count: sorted.length, min: at(0), p25: at(0.25), p50: at(0.5), p99: at(0.99), max: at(1) };
}
