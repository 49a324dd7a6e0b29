import type { FaultWindow } from '../nemesis/fault-window.js';
import { Column } from './column.js';
import type { ClaimStory } from './message-story.js';
import type { Lateness, LatenessSecond, Verdict } from './verdict.js';

/** Measures how long after each due time the first handler started. */
export class LatenessMeter {
  readonly #troubled: readonly (readonly [number, number])[];
  readonly #inFaults = new Column(Int32Array);
  readonly #outside = new Column(Int32Array);
  readonly #seconds = new Map<number, number[]>();

  /** @param recovery - for how long after its end a fault is still blamed, ms */
  constructor(windows: readonly FaultWindow[], recovery: number) {
    this.#troubled = merged(windows.map(({ from, to }) => [from, to + recovery] as const));
  }

  measure(claims: readonly ClaimStory[]): void {
    const seen = new Set<number>();
    for (const { due } of claims) {
      if (seen.has(due)) continue;
      seen.add(due);
      const startedAt = Math.min(...claims.filter((claim) => claim.due === due).map((claim) => claim.startedAt));
      const late = startedAt - due;
      (this.#isTroubled(due, startedAt) ? this.#inFaults : this.#outside).push(late);
      const second = Math.floor(due / 1000);
      const others = this.#seconds.get(second);
      if (others) others.push(late);
      else this.#seconds.set(second, [late]);
    }
  }

  report(): Verdict['lateness'] {
    const seconds: LatenessSecond[] = [...this.#seconds]
      .map(([second, values]) => ({ second, ...summary(Int32Array.from(values)) }))
      .sort((a, b) => a.second - b.second);
    return { inFaults: summary(this.#inFaults.numbers()), outside: summary(this.#outside.numbers()), seconds };
  }

  #isTroubled(from: number, to: number): boolean {
    // Finds the last interval that begins at or before `to`; they do not overlap, so no earlier one reaches further.
    let [low, high] = [0, this.#troubled.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#troubled[middle]![0] <= to) low = middle + 1;
      else high = middle;
    }
    return low > 0 && this.#troubled[low - 1]![1] >= from;
  }
}

function merged(intervals: readonly (readonly [number, number])[]): [number, number][] {
  const result: [number, number][] = [];
  for (const [from, to] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

function summary(values: Int32Array): Lateness {
  const sorted = values.sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
