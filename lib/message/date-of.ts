/** The last instant that a `Date` can show, ms. */
const LAST_INSTANT = 8.64e15;

/** An instant in ms as a `Date`. One that somebody else has stored, and that no `Date` can show, becomes the nearest that it can. */
export function dateOf(instant: number): Date {
  return new Date(Math.min(Math.max(instant, 0), LAST_INSTANT));
}
