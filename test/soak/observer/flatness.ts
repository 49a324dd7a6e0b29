import { isCalm, ROUND } from '../nemesis/fault-plan.js';
import type { Sample } from './sample.js';

/** Something that must not grow, in the first and in the last calm. */
export interface Trend {
  readonly what: string;
  readonly first: number;
  readonly last: number;
  /** The most that `last` may be. */
  readonly bound: number;
}

const MEBIBYTE = 1024 * 1024;

/**
 * Compares the medians of the first and the last calm. With enough calms, the very first is left out, because processes are
 * still warming up. Undefined if the run was too short to tell.
 */
export function findTrends(samples: readonly Sample[], limits: Limits): Trend[] | undefined {
  const calms: Sample[][] = [];
  for (const sample of samples) {
    const at = sample.at - limits.from;
    if (isCalm(at, limits)) (calms[Math.floor(at / ROUND)] ??= []).push(sample);
  }
  const groups = Object.values(calms).filter((group) => group.length >= 3);
  const [first, last] = [groups.length > 3 ? groups[1] : groups[0], groups.at(-1)];
  if (!first || !last || groups.length < 2) return undefined;
  const trend = (what: string, read: Read, bound: Bound): Trend => {
    const start = median(first.map(read));
    return { what, first: start, last: median(last.map(read)), bound: bound(start) };
  };
  return [
    trend('memory of Redis', ({ usedMemory }) => usedMemory, grownBy(8 * MEBIBYTE)),
    trend(
      'connections',
      ({ connections }) => connections,
      () => limits.connections,
    ),
    ...Object.keys(last[0]!.rss).map((index) =>
      trend(`memory of process ${index}`, ({ rss }) => rss[Number(index)] ?? NaN, grownBy(32 * MEBIBYTE)),
    ),
  ];
}

interface Limits {
  /** The time at which the fault plan began; its storms and calms count from there. */
  readonly from: number;
  readonly seconds: number;
  readonly recovery: number;
  /** The number of connections when nothing is wrong. */
  readonly connections: number;
}

type Read = (sample: Sample) => number;
type Bound = (first: number) => number;

/** A quarter more, and some bytes: memory varies with what is stored and with garbage collection. */
const grownBy = (bytes: number): Bound => {
  return (first) => first * 1.25 + bytes;
};

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
