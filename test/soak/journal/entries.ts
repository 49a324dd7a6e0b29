/**
 * The lines of a journal: a letter and whole numbers, with times in ms since the run's epoch. They are short because a soak
 * writes millions of them.
 *
 * A producer writes what it is about to do before it does it, and afterwards what became of it: `ok`, `failed` if it
 * cannot have had any effect, or `unknown`. A worker writes `start` before the work, `end` after it and before the
 * outcome is sent, and `settled` when Redis has answered.
 */
export type Entry =
  | OfferEntry
  | {
      readonly kind: 'offered';
      readonly n: number;
      readonly version: number;
      readonly at: number;
      /** Null if the call does not tell. */
      readonly due: number | null;
    }
  | {
      readonly kind: 'offer-failed' | 'offer-unknown';
      readonly n: number;
      readonly version: number;
      readonly at: number;
    }
  | { readonly kind: 'cancel' | 'abort'; readonly n: number; readonly at: number }
  | { readonly kind: 'reschedule'; readonly n: number; readonly at: number; readonly delay: number }
  | {
      readonly kind: 'cancelled' | 'rescheduled' | 'aborted';
      readonly n: number;
      readonly at: number;
      readonly result: ChangeResult;
    }
  | StartEntry
  | EndEntry
  | SettledEntry
  /** A worker is about to remove the message, because it has expired. */
  | { readonly kind: 'expired'; readonly n: number; readonly at: number }
  /** One claim was seen to hold the message from `from` until `at`. Only the observer writes this. */
  | { readonly kind: 'held'; readonly n: number; readonly from: number; readonly at: number }
  /** The event loop of the process stalled. */
  | { readonly kind: 'stall'; readonly from: number; readonly at: number }
  /** A handler received something that no producer can have offered. */
  | { readonly kind: 'unreadable'; readonly at: number };

export interface OfferEntry {
  readonly kind: 'offer';
  readonly n: number;
  readonly version: number;
  readonly at: number;
  /** The least delay that it allows, ms; negative if it may have been due before. */
  readonly delay: number;
  readonly how: OfferingHow;
  /** How late the message may be at most, ms; null: it does not expire. */
  readonly expiresAfter: number | null;
}

export interface StartEntry {
  readonly kind: 'start';
  readonly n: number;
  /** The number of the claim in this process; one claim takes several messages. */
  readonly claim: number;
  readonly at: number;
  /** The time at which the claim was first sent; it cannot have happened earlier. */
  readonly claimSentAt: number;
  readonly due: number;
  readonly attempt: number;
  readonly version: number;
  readonly intact: boolean;
}

export interface EndEntry {
  readonly kind: 'end';
  readonly n: number;
  readonly claim: number;
  readonly at: number;
  readonly how: HandlerEnd;
}

export interface SettledEntry {
  readonly kind: 'settled';
  readonly n: number;
  readonly claim: number;
  readonly at: number;
  readonly sentAt: number;
  readonly outcome: SettleOutcome;
  readonly result: SettleResult;
}

/** An `offer`, also one that replaces; a `change` of content by a reschedule; or a `follow`er of the message with its id. */
export type OfferingHow = (typeof OFFERING_HOWS)[number];
/** `done`, `refused` because of the message's state, `failed` without any effect, or `unknown`. */
export type ChangeResult = (typeof CHANGE_RESULTS)[number];
/** `aborted`: it stopped for a shutdown or because its lease was lost. `hung`: it never began, as an observer kept it until then. */
export type HandlerEnd = (typeof HANDLER_ENDS)[number];
export type SettleOutcome = (typeof SETTLE_OUTCOMES)[number];
export type SettleResult = (typeof SETTLE_RESULTS)[number];

export const OFFERING_HOWS = ['offer', 'change', 'follow'] as const;
export const CHANGE_RESULTS = ['done', 'refused', 'failed', 'unknown'] as const;
export const HANDLER_ENDS = ['handled', 'failed', 'deferred', 'again', 'rejected', 'aborted', 'hung'] as const;
export const SETTLE_OUTCOMES = ['ack', 'retry', 'defer', 'again', 'release', 'dead'] as const;
export const SETTLE_RESULTS = ['accepted', 'refused', 'unknown'] as const;

/** In place of a number. */
const NONE = -1;

export function writeEntry(entry: Entry): string {
  switch (entry.kind) {
    case 'offer':
      return `i ${entry.n} ${entry.version} ${entry.at} ${entry.delay} ${OFFERING_HOWS.indexOf(entry.how)} ${entry.expiresAfter ?? NONE}\n`;
    case 'offered':
      return `o ${entry.n} ${entry.version} ${entry.at} ${entry.due ?? NONE}\n`;
    case 'offer-failed':
      return `f ${entry.n} ${entry.version} ${entry.at}\n`;
    case 'offer-unknown':
      return `u ${entry.n} ${entry.version} ${entry.at}\n`;
    case 'cancel':
      return `c ${entry.n} ${entry.at}\n`;
    case 'cancelled':
      return `C ${entry.n} ${entry.at} ${CHANGE_RESULTS.indexOf(entry.result)}\n`;
    case 'abort':
      return `a ${entry.n} ${entry.at}\n`;
    case 'aborted':
      return `A ${entry.n} ${entry.at} ${CHANGE_RESULTS.indexOf(entry.result)}\n`;
    case 'expired':
      return `z ${entry.n} ${entry.at}\n`;
    case 'reschedule':
      return `r ${entry.n} ${entry.at} ${entry.delay}\n`;
    case 'rescheduled':
      return `R ${entry.n} ${entry.at} ${CHANGE_RESULTS.indexOf(entry.result)}\n`;
    case 'start': {
      const { n, claim, at, claimSentAt, due, attempt, version, intact } = entry;
      return `s ${n} ${claim} ${at} ${claimSentAt} ${due} ${attempt} ${version} ${Number(intact)}\n`;
    }
    case 'end':
      return `e ${entry.n} ${entry.claim} ${entry.at} ${HANDLER_ENDS.indexOf(entry.how)}\n`;
    case 'settled': {
      const { n, claim, at, sentAt, outcome, result } = entry;
      return `d ${n} ${claim} ${at} ${sentAt} ${SETTLE_OUTCOMES.indexOf(outcome)} ${SETTLE_RESULTS.indexOf(result)}\n`;
    }
    case 'held':
      return `h ${entry.n} ${entry.from} ${entry.at}\n`;
    case 'stall':
      return `x ${entry.from} ${entry.at}\n`;
    case 'unreadable':
      return `k ${entry.at}\n`;
  }
}

/** @throws Error if the line does not belong to a journal */
export function parseEntry(line: string): Entry {
  const [n = NaN, a = NaN, b = NaN, c = NaN, d = NaN, e = NaN, f = NaN, g = NaN] = line.slice(2).split(' ').map(Number);
  switch (line[0]) {
    case 'i':
      return {
        kind: 'offer',
        n,
        version: a,
        at: b,
        delay: c,
        how: nameOf(OFFERING_HOWS, d),
        expiresAfter: e === NONE ? null : e,
      };
    case 'o':
      return { kind: 'offered', n, version: a, at: b, due: c === NONE ? null : c };
    case 'f':
      return { kind: 'offer-failed', n, version: a, at: b };
    case 'u':
      return { kind: 'offer-unknown', n, version: a, at: b };
    case 'c':
      return { kind: 'cancel', n, at: a };
    case 'C':
      return { kind: 'cancelled', n, at: a, result: nameOf(CHANGE_RESULTS, b) };
    case 'a':
      return { kind: 'abort', n, at: a };
    case 'A':
      return { kind: 'aborted', n, at: a, result: nameOf(CHANGE_RESULTS, b) };
    case 'z':
      return { kind: 'expired', n, at: a };
    case 'r':
      return { kind: 'reschedule', n, at: a, delay: b };
    case 'R':
      return { kind: 'rescheduled', n, at: a, result: nameOf(CHANGE_RESULTS, b) };
    case 's':
      return { kind: 'start', n, claim: a, at: b, claimSentAt: c, due: d, attempt: e, version: f, intact: g === 1 };
    case 'e':
      return { kind: 'end', n, claim: a, at: b, how: nameOf(HANDLER_ENDS, c) };
    case 'd':
      return {
        kind: 'settled',
        n,
        claim: a,
        at: b,
        sentAt: c,
        outcome: nameOf(SETTLE_OUTCOMES, d),
        result: nameOf(SETTLE_RESULTS, e),
      };
    case 'h':
      return { kind: 'held', n, from: a, at: b };
    case 'x':
      return { kind: 'stall', from: n, at: a };
    case 'k':
      return { kind: 'unreadable', at: n };
    default:
      throw new Error(`Not a line of a journal: ${line}`);
  }
}

function nameOf<Name>(names: readonly Name[], index: number): Name {
  const name = names[index];
  if (name === undefined) throw new Error(`Not a line of a journal: no number ${index} in ${names.join(', ')}`);
  return name;
}
