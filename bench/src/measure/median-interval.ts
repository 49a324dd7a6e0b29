/** The range that contains the median of everything that could be measured, as far as one can tell from some values. */
export interface Interval {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

const CONFIDENCE = 0.95;

/**
 * The interval of the median: from the k-th lowest to the k-th highest value. It assumes nothing about how the values are spread, and a
 * few outliers do not matter. Fewer than six values have none, because all of them may be on the same side of the median.
 */
export function medianInterval(values: readonly number[]): Interval | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const skipped = skippedAtEachEnd(sorted.length);
  if (skipped === undefined) return undefined;
  const [lower, upper] = [sorted[Math.ceil(sorted.length / 2) - 1]!, sorted[Math.floor(sorted.length / 2)]!];
  return { low: sorted[skipped]!, median: (lower + upper) / 2, high: sorted.at(-1 - skipped)! };
}

/** The chance that so few of n values are on one side of the median is that of a coin. */
function skippedAtEachEnd(n: number): number | undefined {
  let outcomes = 1;
  let fewer = 0;
  for (let k = 0; ; k++) {
    fewer += outcomes / 2 ** n;
    if (1 - 2 * fewer < CONFIDENCE) return k === 0 ? undefined : k - 1;
    outcomes = (outcomes * (n - k)) / (k + 1);
  }
}
