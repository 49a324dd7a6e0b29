/** One figure over all rounds. */
export interface Summary {
  readonly values: readonly number[];
  readonly median: number;
  /** Half the distance between the lowest and the highest value, as a share of the median. */
  readonly spread: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  const half = (sorted.at(-1)! - sorted[0]!) / 2;
  return { values, median, spread: median === 0 ? 0 : half / median };
}
