/** What a check of the doctor found. */
export interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it. */
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
