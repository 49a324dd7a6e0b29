import { Random } from '../random.js';
import type { SoakSettings } from '../soak-settings.js';

/** A fault to come. */
export interface PlannedFault {
  /** ms after the start. */
  readonly at: number;
  readonly kind: string;
  /** How many of its kind came before. */
  readonly turn: number;
  /** For what the fault chooses by itself. */
  readonly seed: number;
}

/** A round is a storm and then a calm, in which everything can be seen to recover. Of a round, the storm has so much. */
const STORM_SHARE = 0.7;
export const ROUND = 60_000;

/** The calm is worth its while only if a soak has room for several; a shorter one is all storm. */
const SHORTEST_WITH_CALMS = 2 * ROUND;

/**
 * Chooses what happens when; the same seed gives the same plan. Kinds come in turn, each round of them shuffled, so that
 * none is left out by chance.
 */
export function planFaults(settings: SoakSettings, kinds: readonly string[]): PlannedFault[] {
  const { seed, seconds, faultsEvery } = settings;
  if (faultsEvery === 0) return [];
  const random = new Random(seed, 0x5eed);
  const length = seconds * 1000;
  const [round, storm] = length >= SHORTEST_WITH_CALMS ? [ROUND, ROUND * STORM_SHARE] : [length, length * 0.95];
  const count = Math.floor(seconds / faultsEvery);
  const instants = Array.from({ length: count }, (_, i) => {
    // Evenly spread over the time of storm, give or take.
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

/** Whether this instant lies in a calm, with room for the storm before it to pass. */
export function isCalm(at: number, { seconds, recovery }: { seconds: number; recovery: number }): boolean {
  if (seconds * 1000 < SHORTEST_WITH_CALMS) return false;
  const inRound = at % ROUND;
  return at < seconds * 1000 && inRound > ROUND * STORM_SHARE + recovery;
}
