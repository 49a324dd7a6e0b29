import type { ComputedBackoff } from './backoff.js';

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
