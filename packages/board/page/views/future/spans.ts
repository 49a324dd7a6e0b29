const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A part of the future, in bars of equal width. */
export interface Span {
  readonly label: string;
  /** The width of a bar, in words. */
  readonly bar: string;
  readonly width: number;
  readonly buckets: number;
  /** A bar in so many has its time written below it. */
  readonly labelEvery: number;
  /** How often it is read again, in ms. */
  readonly every: number;
  /** Formats when a bar starts, in short. */
  readonly tick: (time: number) => string;
}

const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY_OF_YEAR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

export const SPANS: Readonly<Record<string, Span>> = {
  hour: {
    ...{ label: 'Hour', bar: 'minute', width: MINUTE, buckets: 60, labelEvery: 10, every: 5000 },
    tick: (time) => TIME.format(time),
  },
  day: {
    ...{ label: 'Day', bar: 'hour', width: HOUR, buckets: 24, labelEvery: 4, every: 10_000 },
    tick: (time) => TIME.format(time),
  },
  quarter: {
    ...{ label: '90 days', bar: 'day', width: DAY, buckets: 90, labelEvery: 15, every: 30_000 },
    // In the middle of the day: when summer time begins or ends, 24 hours from midnight on are not a date.
    tick: (time) => DAY_OF_YEAR.format(time + DAY / 2),
  },
};

/** Returns when the bar begins in which a time lies: at a full minute, hour or day of the viewer's zone. */
export function startOf({ width }: Span, now: number): number {
  if (width === DAY) return new Date(now).setHours(0, 0, 0, 0);
  if (width === HOUR) return new Date(now).setMinutes(0, 0, 0);
  return Math.floor(now / width) * width;
}
