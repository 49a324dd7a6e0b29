/** A backoff that calls no function of the application, with its defaults. Durations are in milliseconds. */
export type ComputedBackoff =
  | {
      /** The same wait before every attempt. */
      readonly type: 'fixed';
      /** ms */
      readonly delay: number;
      /** The share of the wait by which it varies at random. */
      readonly jitter: number;
    }
  | {
      /** A wait that grows with each failed attempt. */
      readonly type: 'exponential';
      /** The wait after the first failed attempt, ms. */
      readonly delay: number;
      readonly factor: number;
      /** ms */
      readonly maxDelay: number;
      /** The share of the wait by which it varies at random. */
      readonly jitter: number;
    };

export const DEFAULT_BACKOFF = {
  type: 'exponential',
  delay: 1000,
  factor: 2,
  maxDelay: 3_600_000,
  jitter: 0.2,
} as const satisfies ComputedBackoff;

/** How a message is retried, where that differs from its queue. */
export interface Retries {
  /** Undefined if the queue's `attempts` apply. */
  readonly attempts?: number | undefined;
  /** Undefined if the handler's `backoff` applies. */
  readonly backoff?: ComputedBackoff | undefined;
}

/** Returns the fields that a message shows. Those that are undefined are left out. */
export function shownRetries({ attempts, backoff }: Retries): Retries {
  return { ...(attempts !== undefined && { attempts }), ...(backoff && { backoff: { ...backoff } }) };
}

/** Matches a stored line: the attempts or `-`, then optionally a backoff's type, delay, jitter and, if exponential, factor and maximum delay. */
const LINE = /^(-|[1-9]\d{0,6})(?: (?:fixed (\S+) (\S+)|exponential (\S+) (\S+) (\S+) (\S+)))?$/;

/** Returns the text that a body holds, in one line. */
export function writeRetries({ attempts, backoff }: Retries): string {
  const first = attempts ?? '-';
  if (!backoff) return String(first);
  const { type, delay, jitter } = backoff;
  const shared = `${first} ${type} ${delay} ${jitter}`;
  return backoff.type === 'fixed' ? shared : `${shared} ${backoff.factor} ${backoff.maxDelay}`;
}

/** Reads what {@link writeRetries} has written; undefined if it is damaged. */
export function parseRetries(line: string): Retries | undefined {
  const [, attempts, ...texts] = LINE.exec(line) ?? [];
  if (attempts === undefined) return undefined;
  const numbers = texts.filter((text) => text !== undefined).map(Number);
  if (!numbers.every((each) => Number.isFinite(each) && each >= 0)) return undefined;
  return { ...(attempts !== '-' && { attempts: Number(attempts) }), ...(numbers.length > 0 && backoffOf(numbers)) };
}

function backoffOf([delay, jitter, factor, maxDelay]: readonly number[]): { readonly backoff: ComputedBackoff } {
  if (factor === undefined) return { backoff: { type: 'fixed', delay: delay!, jitter: jitter! } };
  return { backoff: { type: 'exponential', delay: delay!, factor, maxDelay: maxDelay!, jitter: jitter! } };
}
