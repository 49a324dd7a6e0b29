/** What a check found. */
export interface Finding {
  /** What was checked, such as `'eviction'`. */
  readonly check: string;
  /** Whether it is fit; `'warn'`: it is, at a cost that `advice` tells. */
  readonly verdict: 'ok' | 'warn' | 'fail';
  /** What there is, as a phrase. */
  readonly found: string;
  /** What to do about it. Absent: nothing, or what `found` says. */
  readonly advice?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, verdict: 'ok', found };
}

export function warn(check: string, found: string, advice: string): Finding {
  return { check, verdict: 'warn', found, advice };
}

export function fail(check: string, found: string, advice?: string): Finding {
  return { check, verdict: 'fail', found, ...(advice !== undefined && { advice }) };
}
