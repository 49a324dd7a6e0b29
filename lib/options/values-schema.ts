import { z } from 'zod/mini';
import { type Duration, parseDuration } from '../message/duration.js';
import { showGiven } from '../message/show-given.js';

export const SECOND = 1000;
export const HOUR = 3_600_000;

/** The schema of a duration of `min` to `max` ms, inclusive. Its output is milliseconds. */
export function duration(min: number, max: number): z.ZodMiniType<number, Duration> {
  const schema = z.transform((value: unknown, context) => {
    const parsed = parseDuration(value, { min, max });
    return 'milliseconds' in parsed ? parsed.milliseconds : refuse(context, value, parsed.problem);
  });
  return schema as z.ZodMiniType<number, unknown> as z.ZodMiniType<number, Duration>;
}

/** The schema of a duration of `min` to `max` ms, inclusive, or the word for none. Its output is milliseconds, or null. */
export function durationOr<const Word extends string>(word: Word, min: number, max: number) {
  const schema = z.transform((value: unknown, context) => {
    if (value === word) return null;
    const parsed = parseDuration(value, { min, max });
    return 'milliseconds' in parsed ? parsed.milliseconds : refuse(context, value, `${parsed.problem}; or '${word}'`);
  });
  return schema as z.ZodMiniType<number | null, unknown> as z.ZodMiniType<number | null, Duration | Word>;
}

function refuse(context: { readonly issues: z.core.$ZodRawIssue[] }, input: unknown, message: string): never {
  context.issues.push({ code: 'custom', message, input });
  return z.NEVER;
}

/**
 * The error of a schema: what a value must be, and what was given.
 * @param rule - the text after "must be" in the message; for an object, includes an example
 */
export function mustBe(rule: string): { readonly error: (issue: z.core.$ZodRawIssue) => string | undefined } {
  // `check` words the error about unknown fields.
  const isAboutFields = ({ code }: z.core.$ZodRawIssue) => code === 'unrecognized_keys';
  return {
    error: (issue) =>
      isAboutFields(issue) ? undefined : `must be ${rule}, not ${showGiven(issue.input)}${adviceOn(issue.input)}`,
  };
}

/** Explains how to convert the text of an environment variable. */
function adviceOn(given: unknown): string {
  if (typeof given !== 'string') return '';
  if (given.trim() !== '' && Number.isFinite(Number(given))) return ': convert the text with Number()';
  return given === 'true' || given === 'false' ? ": compare the text, as in value === 'true'" : '';
}

export function wholeNumber(min: number, max: number) {
  const rule = mustBe(`a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`);
  return z.int(rule).check(z.minimum(min, rule), z.maximum(max, rule));
}

export function number(min: number, max: number) {
  const rule = mustBe(`a number from ${min} to ${max}`);
  return z.number(rule).check(z.minimum(min, rule), z.maximum(max, rule));
}

export function oneOf<const Name extends string>(...names: readonly [Name, Name]) {
  return z.enum(names, mustBe(`'${names[0]}' or '${names[1]}'`));
}

export function trueOrFalse() {
  return z.boolean(mustBe('true or false'));
}
