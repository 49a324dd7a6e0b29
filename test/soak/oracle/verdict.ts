import type { FaultWindow } from '../nemesis/fault-window.js';

/** The number of violations of a rule, with the first few examples. */
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

/** The numbers of judged groups and handlings. */
export interface GroupCounts {
  /** Groups, each in its queue. */
  readonly groups: number;
  /** Handlings, each with its retries. */
  readonly permitUses: number;
  /** The handlings whose place in the order of their group is certain. */
  readonly ordered: number;
}

/** The findings in the journals of a run. */
export interface Verdict {
  /** Acknowledged offers, including replacements. */
  readonly acknowledged: number;
  /** Offers with an unknown outcome. */
  readonly unknown: number;
  /** Offers that failed without any effect. */
  readonly failed: number;
  /** Messages that a handler finished. */
  readonly handled: number;
  /** Cancelled messages. */
  readonly cancelled: number;
  /** Reschedules that gave a message other content. */
  readonly changed: number;
  /** Offers with `onDuplicate: 'follow'` that were taken in. */
  readonly followed: number;
  /** Messages that were aborted while they were active. */
  readonly aborted: number;
  /** Messages that were removed because they had expired. */
  readonly expired: number;
  /** Starts of handlers. */
  readonly starts: number;

  /** Acknowledged, but in the end neither handled nor cancelled nor a dead letter. */
  readonly lost: Findings;
  /** Acknowledged, but removed by an older call that its producer had given up. */
  readonly undone: Findings;
  /** Acknowledged, but forgotten by Redis; nobody could have kept it. */
  readonly lostByRedis: Findings;
  /** Held by a claim for much longer than a lease while nobody handled it. */
  readonly hostage: Findings;
  /** Started before its due time, or due earlier than any offer allowed. */
  readonly early: Findings;
  /** With content, id, version or due time other than what was offered. */
  readonly corrupt: Findings;
  /** Handled although it had been cancelled or replaced before it was claimed. */
  readonly revived: Findings;
  /** Repeated starts, by their explanation. */
  readonly duplicates: Readonly<Record<string, number>>;
  /** Repeated starts that nothing explains. */
  readonly unattributed: Findings;
  /** Outcomes of superseded claims that were accepted. */
  readonly staleSettles: Findings;
  /** Handled after they had expired, or removed as expired before. */
  readonly expiry: Findings;
  /** Begun while as many messages of its group were being handled as may be at once. */
  readonly crowded: Findings;
  /** Begun behind one of its group that was due later, or offered later for the same millisecond. */
  readonly overtaken: Findings;
  readonly groups: GroupCounts;
  /** Outcomes that the fence refused, which shows how often it was tested. */
  readonly refusedSettles: number;

  /** The times at which processes stalled, whatever the reason. */
  readonly stalls: readonly FaultWindow[];

  readonly lateness: {
    /** For messages that waited while something was wrong or recovering. */
    readonly inFaults: Lateness;
    readonly outside: Lateness;
    readonly seconds: readonly LatenessSecond[];
  };
}
