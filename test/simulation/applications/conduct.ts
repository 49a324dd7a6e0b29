import { fixedChance } from '../world/chance.js';
import type { Scenario } from './scenario.js';

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

/** The share of attempts that take their time, and how long at most, ms. */
const UNHURRIED = { share: 0.1, longest: 50 } as const;

/** The share of attempts that are worth aborting, and how long they take at most, ms. */
const SLOW = { share: 0.006, longest: 800 } as const;

/** A handler that takes longer is worth aborting, and its signal is looked at, ms. */
export const LONG = 200;

/** How long a handler takes at most, in leases. */
const LONGEST_LEASES = 2.5;

/** The share of attempts that may take longer than a lease. */
const lingering = (lease: number) => Math.min(0.005, 2 / lease);

/** How long a handler takes on average, ms. */
export const averageTime = (lease: number): number =>
  (UNHURRIED.share * UNHURRIED.longest + SLOW.share * SLOW.longest + lingering(lease) * LONGEST_LEASES * lease) / 2;

/** For how long a handler of a run that `blocks` keeps the event loop busy on average, ms, at most. */
export const AVERAGE_BLOCK = 2.4;

/** Chains of `again` and of deferrals end after so many starts. */
const MOST_STARTS = 6;

/** @param starts - how often a handler has started with it before */
export function conductOf(
  seed: number,
  { message, starts }: { readonly message: number; readonly starts: number },
  { lease, blocks }: Pick<Scenario, 'lease' | 'blocks'>,
): Conduct {
  const luck = (purpose: number) => fixedChance(seed + purpose, message, starts);
  const [pace, end] = [luck(1), luck(2)];
  return {
    takes: longestOf(pace, lease) * luck(3),
    spins: blocks ? blockOf(luck(4), luck(5), lease) : luck(4) < 0.003 ? 30 * luck(5) : 0,
    end: starts < MOST_STARTS ? endOf(end) : end < 0.8 ? 'return' : 'throw',
    delay: Math.floor(3000 * luck(6)),
  };
}

function longestOf(pace: number, lease: number): number {
  if (pace < lingering(lease)) return LONGEST_LEASES * lease;
  if (pace < lingering(lease) + SLOW.share) return SLOW.longest;
  return pace < UNHURRIED.share ? UNHURRIED.longest : 0;
}

function blockOf(luck: number, share: number, lease: number): number {
  if (luck < lingering(lease) / 5) return 1.5 * lease * share;
  return luck < 0.1 ? 40 * share : 0;
}

function endOf(luck: number): ConductEnd {
  if (luck < 0.88) return 'return';
  if (luck < 0.94) return 'throw';
  if (luck < 0.95) return 'reject';
  return luck < 0.975 ? 'defer' : 'again';
}
