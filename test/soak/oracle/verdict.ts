import type { FaultWindow } from '../nemesis/fault-window.js';

/** Something that must not happen, counted, with the first few by name. */
export interface Findings {
  readonly count: number;
  readonly examples: readonly string[];
}

export interface Lateness {
  readonly count: number;
  /** ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The messages that fell due in one second of the run. */
export interface LatenessSecond extends Lateness {
  readonly second: number;
}

/** What the journals of a run say. */
export interface Verdict {
  /** Offers that were acknowledged, replacements included. */
  readonly acknowledged: number;
  /** Offers whose outcome was, or stayed, unknown. */
  readonly unknown: number;
  /** Offers that failed without effect. */
  readonly failed: number;
  /** Messages that a handler finished with. */
  readonly handled: number;
  /** Messages that were cancelled. */
  readonly cancelled: number;
  /** Starts of handlers. */
  readonly starts: number;

  /** Acknowledged, and neither handled nor cancelled nor a dead letter in the end. */
  readonly lost: Findings;
  /** Acknowledged, and removed by an older call that its producer had given up. */
  readonly undone: Findings;
  /** Acknowledged, and forgotten by Redis: nobody could have kept it. */
  readonly lostByRedis: Findings;
  /** Held by a claim while nobody handled it, for longer than a lease. */
  readonly hostage: Findings;
  /** Started before the due time, or due before any offer allowed. */
  readonly early: Findings;
  /** Other content, id, version or due time than were offered. */
  readonly corrupt: Findings;
  /** Handled although it had been cancelled or replaced before it was claimed. */
  readonly revived: Findings;
  /** Started again, by what explains it. */
  readonly duplicates: Readonly<Record<string, number>>;
  /** Started again, and nothing explains it. */
  readonly unattributed: Findings;
  /** Outcomes of claims that were no longer held, and counted nevertheless. */
  readonly staleSettles: Findings;
  /** Outcomes that the fence refused: how often it was put to the test. */
  readonly refusedSettles: number;

  /** When processes stood still, whatever the reason. */
  readonly stalls: readonly FaultWindow[];

  readonly lateness: {
    /** Of messages that waited while something was wrong, or recovering. */
    readonly inFaults: Lateness;
    readonly outside: Lateness;
    readonly seconds: readonly LatenessSecond[];
  };
}
