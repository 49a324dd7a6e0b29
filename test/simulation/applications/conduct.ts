import { fixedChance } from '../world/chance.js';
import type { Scenario } from './scenario.js';

/** The behaviour of a handler for one attempt of a message. The seed decides it, whichever process runs the handler. */
export interface Conduct {
  /** The time that it takes, ms; 0: it is done at once. */
  readonly takes: number;
  /** For how long it keeps the event loop busy, ms. */
  readonly spins: number;
  readonly end: ConductEnd;
  /** Until the message comes again, ms; only with `again`, `defer` and `retry`. */
  readonly delay: number;
  /** It goes on until then; undefined: for as long as it takes. */
  readonly until?: Promise<void>;
}

export type ConductEnd = 'return' | 'throw' | 'retry' | 'reject' | 'defer' | 'again';

/** A handler that takes longer is worth aborting, and its signal is looked at, ms. */
export const LONG = 200;

/** Chains of `again` and of deferrals end after so many starts. */
const MAX_STARTS = 6;

/**
 * Some neighbours in a quiet phase take their time together, so that all slots of a process are in use: one part of all crowds, of so many
 * messages, ms.
 */
const CROWD = { share: 0.15, size: 16, shortest: 100, longest: 500 } as const;

/** The share of crowds of which many outlive a lease, and the longest time of those as a number of leases. */
const slowCrowdsOf = ({ lease }: Pick<Scenario, 'lease'>) => ({
  share: Math.min(0.006, 8 / lease),
  longest: 3 * lease,
});

/** The maximum delay of a message that is deferred or repeated by again(), ms. */
const MAX_DELAY = 3000;

/** A share of the handlers, and the longest time that one of them takes, ms. Times are even from 0 on. */
interface Times {
  readonly share: number;
  readonly longest: number;
}

type Pace = Pick<Scenario, 'lease' | 'blocks'> & {
  /** True if messages come so fast that few handlers may take their time. */
  readonly isBusy: boolean;
};

/** Those that outlive a lease, those that are worth aborting, and those that take a moment; the others are done at once. */
function timesOf({ lease, isBusy }: Pace): Times[] {
  const ofAll = isBusy ? 0.15 : 1;
  const outlivesLease = isBusy ? ofAll * Math.min(0.005, 2 / lease) : Math.min(0.02, 20 / lease);
  return [
    { share: outlivesLease, longest: 2.5 * lease },
    { share: ofAll * 0.02, longest: 800 },
    { share: ofAll * 0.09, longest: 50 },
  ];
}

/** For how long handlers keep the event loop busy. */
function spinsOf({ lease, isBusy, blocks }: Pace): Times[] {
  if (!blocks) return [{ share: isBusy ? 0.0002 : 0.003, longest: 30 }];
  return [
    { share: (isBusy ? 0.1 : 1) * Math.min(0.001, 0.4 / lease), longest: 1.5 * lease },
    { share: isBusy ? 0.01 : 0.2, longest: 40 },
  ];
}

function drawTime(times: readonly Times[], which: number, part: number): number {
  let rest = which;
  for (const { share, longest } of times) {
    if (rest < share) return longest * part;
    rest -= share;
  }
  return 0;
}

const average = (times: readonly Times[]) => times.reduce((sum, { share, longest }) => sum + (share * longest) / 2, 0);

/** The average time of a handler, and the time for which it keeps the event loop busy, ms. */
export function averageTimes(pace: Pace): { readonly takes: number; readonly spins: number } {
  const slow = slowCrowdsOf(pace);
  const ofCrowds = pace.isBusy ? 0 : (CROWD.share * (CROWD.shortest + CROWD.longest) + slow.share * slow.longest) / 2;
  return { takes: average(timesOf(pace)) + ofCrowds, spins: average(spinsOf(pace)) };
}

/** The behaviour of the handlers of a phase. */
interface Habits {
  readonly times: readonly Times[];
  readonly spins: readonly Times[];
  /** The share that returns at the first attempts. */
  readonly returns: number;
  /** Delays are multiples of this, ms. */
  readonly delayStep: number;
}

const habitsOf = (pace: Pace): Habits => ({
  ...{ times: timesOf(pace), spins: spinsOf(pace) },
  ...{ returns: pace.isBusy ? 0.97 : 0.8, delayStep: pace.isBusy ? 250 : 1 },
});

/** Draws what handlers do. */
export class Conducts {
  readonly #quiet: Habits;
  readonly #busy: Habits;

  constructor(
    private readonly seed: number,
    private readonly scenario: Scenario,
  ) {
    this.#quiet = habitsOf({ ...scenario, isBusy: false });
    this.#busy = habitsOf({ ...scenario, isBusy: true });
  }

  /** @param starts - how often a handler has started with the message before */
  of(message: number, starts: number): Conduct {
    const luck = (purpose: number) => fixedChance(this.seed + purpose, message, starts);
    const isBusy = this.scenario.isBusyAt(message);
    const { times, spins, returns, delayStep } = isBusy ? this.#busy : this.#quiet;
    const drawn = luck(2);
    const end = starts < MAX_STARTS ? endOf(drawn, returns) : drawn < 0.8 ? 'return' : 'throw';
    const delay = delayStep * Math.floor((MAX_DELAY / delayStep) * luck(6));
    return {
      takes: (isBusy ? undefined : this.#timeInCrowd(message, luck(3))) ?? drawTime(times, luck(1), luck(3)),
      spins: drawTime(spins, luck(4), luck(5)),
      end,
      // A retry may keep its group waiting, no longer than others.
      delay: end === 'retry' ? Math.min(delay, this.scenario.retryDelay) : delay,
    };
  }

  /** @returns undefined if it is in none */
  #timeInCrowd(message: number, part: number): number | undefined {
    const which = fixedChance(this.seed, Math.floor(message / CROWD.size), 0);
    if (which < CROWD.share) return CROWD.shortest + (CROWD.longest - CROWD.shortest) * part;
    const { share, longest } = slowCrowdsOf(this.scenario);
    return which < CROWD.share + share ? longest * part : undefined;
  }
}

/** @param returns - the share that returns */
function endOf(luck: number, returns: number): ConductEnd {
  if (luck < returns) return 'return';
  const rest = (luck - returns) / (1 - returns);
  if (rest < 0.5) return rest < 0.4 ? 'throw' : 'retry';
  if (rest < 0.6) return 'reject';
  return rest < 0.8 ? 'defer' : 'again';
}
