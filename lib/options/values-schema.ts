import { z } from 'zod/mini';
import { type Duration, parseDuration } from '../message/duration.js';

export const SECOND = 1000;
export const HOUR = 3_600_000;

/**
 * A duration between two bounds, ms, inclusive.
 *
 * @returns a schema whose output is milliseconds
 */
export function duration(min: number, max: number): z.ZodMiniType<number, Duration> {
  const schema = z.transform((value: unknown, context) => {
    const parsed = parseDuration(value, { min, max });
    if ('milliseconds' in parsed) return parsed.milliseconds;
    context.issues.push({ code: 'custom', message: parsed.problem, input: value });
    return z.NEVER;
  });
  return schema as z.ZodMiniType<number, unknown> as z.ZodMiniType<number, Duration>;
}

export function wholeNumber(min: number, max: number) {
  const rule = { error: `must be a whole number from ${min} to ${max}` };
  return z.int(rule).check(z.minimum(min, rule), z.maximum(max, rule));
}

export function number(min: number, max: number) {
  const rule = { error: `must be a number from ${min} to ${max}` };
  return z.number(rule).check(z.minimum(min, rule), z.maximum(max, rule));
}

export function oneOf<const Name extends string>(...names: readonly [Name, Name]) {
  return z.enum(names, { error: `must be '${names[0]}' or '${names[1]}'` });
}

export function trueOrFalse() {
  return z.boolean({ error: 'must be true or false' });
}
