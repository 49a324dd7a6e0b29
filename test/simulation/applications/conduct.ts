import { fixedChance } from '../world/chance.js';

/** What a handler does with one attempt of a message. The seed decides it, whichever process runs the handler. */
export interface Conduct {
  /** How long it takes, ms; 0: it is done at once. */
  readonly takes: number;
  /** For how long it keeps the event loop busy, ms. */
  readonly spins: number;
  readonly end: ConductEnd;
  /** Until the message comes again, ms; only with `again` and `defer`. */
  readonly delay: number;
  /** It goes on until then; undefined: for as long as it takes. */
  readonly until?: Promise<void>;
}

export type ConductEnd = 'return' | 'throw' | 'reject' | 'defer' | 'again';

/** Chains of `again` and of deferrals end after so many starts. */
const MOST_STARTS = 6;

/**
 * @param message - its number
 * @param starts - how often a handler has started with it before
 */
export function conductOf(seed: number, message: number, starts: number, lease: number): Conduct {
  const luck = (purpose: number) => fixedChance(seed + purpose, message, starts);
  const [pace, end] = [luck(1), luck(2)];
  const longest = pace < 0.005 ? 2.5 * lease : pace < 0.25 ? 50 : 0;
  return {
    takes: longest * luck(3),
    spins: luck(4) < 0.003 ? 30 * luck(5) : 0,
    end: starts < MOST_STARTS ? endOf(end) : end < 0.8 ? 'return' : 'throw',
    delay: Math.floor(3000 * luck(6)),
  };
}

function endOf(luck: number): ConductEnd {
  if (luck < 0.88) return 'return';
  if (luck < 0.94) return 'throw';
  if (luck < 0.95) return 'reject';
  return luck < 0.975 ? 'defer' : 'again';
}
