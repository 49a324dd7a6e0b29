/** The result of one check. */
export interface Finding {
  /** The name of the check, such as `'eviction'`. */
  readonly check: string;
  /** `'ok'` if Redis is fit for use, `'fail'` if not; `'warn'` if it is, but at a cost that `advice` explains. */
  readonly verdict: 'ok' | 'warn' | 'fail';
  /** The result, as a phrase. */
  readonly found: string;
  /** The remedy. Absent if none is needed, or if `found` names it. */
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
