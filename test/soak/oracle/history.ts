import {
  CHANGE_RESULTS,
  type Entry,
  HANDLER_ENDS,
  OFFERING_HOWS,
  SETTLE_OUTCOMES,
  SETTLE_RESULTS,
} from '../journal/entries.js';
import { MAX_VERSIONS } from '../workload/message-plan.js';
import { Column } from './column.js';

/** A time in which a process stalled. */
export interface Stall {
  readonly process: number;
  readonly from: number;
  readonly to: number;
}

/** An entry with the process that wrote it. */
export type Testimony = { readonly process: number } & MessageEntry;
type MessageEntry = Exclude<Entry, { readonly kind: 'stall' | 'unreadable' }>;

const KINDS = [
  'offer',
  'offered',
  'offer-failed',
  'offer-unknown',
  'cancel',
  'cancelled',
  'reschedule',
  'rescheduled',
  'start',
  'end',
  'settled',
  'held',
  'abort',
  'aborted',
  'expired',
] as const satisfies MessageEntry['kind'][];

const NONE = -1;

/**
 * All journals of a run, by message. Millions of entries are kept as columns of numbers, and turned back into objects one
 * message at a time.
 */
export class History {
  readonly stalls: Stall[] = [];
  unreadable = 0;
  /** The time of each process' last line. */
  readonly #lastSigns = new Map<number, number>();
  /** The last entry of each message; each entry points to the previous one of its message. */
  readonly #last = new Map<number, number>();
  readonly #previous = new Column(Int32Array);
  readonly #kinds = new Column(Uint8Array);
  readonly #processes = new Column(Uint16Array);
  readonly #at = new Column(Int32Array);
  /** Their content depends on the kind of entry, see {@link #pack}. */
  readonly #first = new Column(Int32Array);
  readonly #second = new Column(Int32Array);
  readonly #claims = new Column(Int32Array);
  readonly #codes = new Column(Int32Array);

  get messages(): number {
    return this.#last.size;
  }

  get entries(): number {
    return this.#at.length;
  }

  /** @returns when a process is last known to have been alive */
  lastSignOf(process: number): number {
    return this.#lastSigns.get(process) ?? -Infinity;
  }

  add(process: number, entry: Entry): void {
    this.#lastSigns.set(process, Math.max(entry.at, this.lastSignOf(process)));
    if (entry.kind === 'stall') {
      this.stalls.push({ process, from: entry.from, to: entry.at });
    } else if (entry.kind === 'unreadable') {
      this.unreadable++;
    } else {
      const { n } = entry;
      this.#previous.push(this.#last.get(n) ?? NONE);
      this.#last.set(n, this.#at.length);
      this.#kinds.push(KINDS.indexOf(entry.kind));
      this.#processes.push(process);
      this.#at.push(entry.at);
      const [first, second, claim, code] = pack(entry);
      this.#first.push(first);
      this.#second.push(second);
      this.#claims.push(claim);
      this.#codes.push(code);
    }
  }

  /** The entries of each message; those of one process come in the order in which it wrote them. */
  *byMessage(): Generator<{ readonly n: number; readonly entries: Testimony[] }> {
    for (const [n, last] of this.#last) {
      const entries: Testimony[] = [];
      for (let at = last; at !== NONE; at = this.#previous.at(at)) entries.push(this.#unpack(n, at));
      yield { n, entries: entries.reverse() };
    }
  }

  #unpack(n: number, index: number): Testimony {
    const [process, at, claim] = [this.#processes.at(index), this.#at.at(index), this.#claims.at(index)];
    const [first, second, code] = [this.#first.at(index), this.#second.at(index), this.#codes.at(index)];
    const kind = KINDS[this.#kinds.at(index)]!;
    const about = { process, n, at };
    switch (kind) {
      case 'offer':
        return {
          ...about,
          kind,
          delay: first,
          version: code,
          how: OFFERING_HOWS[claim]!,
          expiresAfter: second === NONE ? null : second,
        };
      case 'offered':
        return { ...about, kind, due: first === NONE ? null : first, version: code };
      case 'offer-failed':
      case 'offer-unknown':
        return { ...about, kind, version: code };
      case 'cancel':
      case 'abort':
      case 'expired':
        return { ...about, kind };
      case 'reschedule':
        return { ...about, kind, delay: first };
      case 'cancelled':
      case 'rescheduled':
      case 'aborted':
        return { ...about, kind, result: CHANGE_RESULTS[code]! };
      case 'start': {
        const flags = {
          intact: (code & 1) === 1,
          version: (code >> 1) % MAX_VERSIONS,
          attempt: Math.floor((code >> 1) / MAX_VERSIONS),
        };
        return { ...about, kind, claim, due: first, claimSentAt: second, ...flags };
      }
      case 'held':
        return { ...about, kind, from: first };
      case 'end':
        return { ...about, kind, claim, how: HANDLER_ENDS[code]! };
      case 'settled': {
        const outcome = SETTLE_OUTCOMES[code >> 2]!;
        return { ...about, kind, claim, sentAt: first, outcome, result: SETTLE_RESULTS[code & 3]! };
      }
    }
  }
}

/** The parts of an entry for the columns first, second, claim and code. */
function pack(entry: MessageEntry): readonly [number, number, number, number] {
  switch (entry.kind) {
    case 'offer':
      return [entry.delay, entry.expiresAfter ?? NONE, OFFERING_HOWS.indexOf(entry.how), entry.version];
    case 'offered':
      return [entry.due ?? NONE, 0, 0, entry.version];
    case 'offer-failed':
    case 'offer-unknown':
      return [0, 0, 0, entry.version];
    case 'cancel':
    case 'abort':
    case 'expired':
      return [0, 0, 0, 0];
    case 'reschedule':
      return [entry.delay, 0, 0, 0];
    case 'cancelled':
    case 'rescheduled':
    case 'aborted':
      return [0, 0, 0, CHANGE_RESULTS.indexOf(entry.result)];
    case 'start': {
      const code = ((entry.attempt * MAX_VERSIONS + entry.version) << 1) | Number(entry.intact);
      return [entry.due, entry.claimSentAt, entry.claim, code];
    }
    case 'held':
      return [entry.from, 0, 0, 0];
    case 'end':
      return [0, 0, entry.claim, HANDLER_ENDS.indexOf(entry.how)];
    case 'settled': {
      const code = (SETTLE_OUTCOMES.indexOf(entry.outcome) << 2) | SETTLE_RESULTS.indexOf(entry.result);
      return [entry.sentAt, 0, entry.claim, code];
    }
  }
}
