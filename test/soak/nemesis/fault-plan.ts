import { Random } from '../random.js';
import type { SoakSettings } from '../soak-settings.js';

export interface PlannedFault {
  /** ms after the start. */
  readonly at: number;
  readonly kind: string;
  /** How many of its kind came before. */
  readonly turn: number;
  /** The seed for the fault's own choices. */
  readonly seed: number;
}

/** The share of a round that is storm; the rest is a calm, in which everything must recover. */
const STORM_SHARE = 0.7;
export const ROUND = 60_000;

/** Calms are worthwhile only if a soak has room for several; a shorter one is all storm. */
const MIN_WITH_CALMS = 2 * ROUND;

/**
 * Plans which fault happens when; the same seed gives the same plan. The kinds come in shuffled rounds, so that none
 * is left out by chance.
 */
export function planFaults(settings: SoakSettings, kinds: readonly string[]): PlannedFault[] {
  const { seed, seconds, faultsEvery } = settings;
  if (faultsEvery === 0) return [];
  const random = new Random(seed, 0x5eed);
  const length = seconds * 1000;
  const [round, storm] = length >= MIN_WITH_CALMS ? [ROUND, ROUND * STORM_SHARE] : [length, length * 0.95];
  const count = Math.floor(seconds / faultsEvery);
  const instants = Array.from({ length: count }, (_, i) => {
    // Spread evenly over the storms, with some jitter.
    const stormy = ((i + random.next()) / count) * (length / round) * storm;
    return Math.round(Math.floor(stormy / storm) * round + (stormy % storm));
  });
  let upcoming: string[] = [];
  return instants.map((at, i) => {
    if (upcoming.length === 0) upcoming = random.shuffled(kinds);
    const turn = Math.floor(i / kinds.length);
    return { at, kind: upcoming.pop()!, turn, seed: random.int(0, 0x7fffffff) };
  });
}

/** True if this instant lies in a calm, after enough time to recover from the storm. */
export function isCalm(at: number, { seconds, recovery }: { seconds: number; recovery: number }): boolean {
  if (seconds * 1000 < MIN_WITH_CALMS) return false;
  const inRound = at % ROUND;
  return at < seconds * 1000 && inRound > ROUND * STORM_SHARE + recovery;
}
