import { z } from 'zod/mini';
import { showFailure } from '../message/failure.js';
import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';
import { nearestNames } from '../message/nearest-name.js';
import { QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import { type Duration, parseDuration } from '../message/duration.js';
import { showGiven } from '../message/show-given.js';

/**
 * Checks a value against a schema.
 * @param place - where the value was given, for the error
 * @param placeOf - returns where an option that is unknown here belongs; undefined if nowhere
 * @throws DelayQueueError with the code, naming each invalid field
 */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: z.input<Schema>,
  place: string,
  placeOf?: (option: string) => string | undefined,
  code: DelayQueueErrorCode = 'INVALID_OPTION',
): z.output<Schema> {
  const result = parse(schema, value, (problem, cause) => new DelayQueueError(code, `${place}: ${problem}`, { cause }));
  if ('data' in result) return result.data;
  const adviceOn = (option: string, names: readonly string[]) => placeOf?.(option) ?? spelling(option, names);
  const described = result.issues.flatMap((issue) => describeIssue(issue, [], adviceOn));
  // Sets no `cause`, which would add much text but no information.
  throw new DelayQueueError(code, `${place}: ${[...new Set(described)].join('; ')}`);
}

type Parsed<Output> = { readonly data: Output } | { readonly issues: readonly z.core.$ZodIssue[] };

function parse<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  refusal: (problem: string, cause: unknown) => DelayQueueError,
): Parsed<z.output<Schema>> {
  try {
    const result = schema.safeParse(value, { error: describeRaw });
    // Reads the issues within the `try`, because that reads the value again, which may throw.
    return result.success ? { data: result.data } : { issues: result.error.issues };
  } catch (cause) {
    throw refusal(`a value cannot be read (${showFailure(cause)})`, cause);
  }
}

/** Describes an issue whose schema has no message. For unknown options, names the known ones. */
function describeRaw(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') return Object.keys((issue.inst as z.ZodMiniObject).shape).join(' ');
  return issue.code === 'invalid_type' ? mustBe(`of type ${issue.expected}`).error(issue) : undefined;
}

function describeIssue(
  issue: z.core.$ZodIssue,
  parents: readonly PropertyKey[],
  adviceOn: (option: string, names: readonly string[]) => string,
): string[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const names = issue.message.split(' ');
    return issue.keys.map((key) => `${show([...path, key])} is not an option; ${adviceOn(key, names)}`);
  }
  if (issue.code === 'invalid_key') return [`${show(path)}: ${QUEUE_OR_FAMILY_RULE}`];
  // The branch of a union that matched furthest tells which field is wrong.
  if (issue.code === 'invalid_union') {
    const furthest = issue.errors.find((branch) =>
      branch.every((inner) => inner.path.length > 0 || isUnknownKey(inner)),
    );
    if (furthest) return furthest.flatMap((inner) => describeIssue(inner, path, adviceOn));
  }
  return [`${show(path)} ${issue.message}`];
}

/** Advice on an unknown name. @param what - what the names are, such as `options` */
export function spelling(written: string, names: readonly string[], what = 'options'): string {
  const [nearest] = nearestNames(written, names);
  return nearest === undefined ? `the ${what} are ${names.join(', ')}` : `did you mean ${nearest}?`;
}

const isUnknownKey = (issue: z.core.$ZodIssue) => issue.code === 'unrecognized_keys';
const show = (path: readonly PropertyKey[]) => (path.length === 0 ? 'the options' : path.map(String).join('.'));

export const SECOND = 1000;
export const HOUR = 3_600_000;

/** The schema of a duration from `min` to `max` ms, inclusive. Its output is milliseconds. */
export function duration(min: number, max: number): z.ZodMiniType<number, Duration> {
  const schema = z.transform((value: unknown, context) => {
    const parsed = parseDuration(value, { min, max });
    return 'milliseconds' in parsed ? parsed.milliseconds : refuse(context, value, parsed.problem);
  });
  return schema as z.ZodMiniType<number, unknown> as z.ZodMiniType<number, Duration>;
}

/** The schema of a duration from `min` to `max` ms, inclusive, or `word` for none. Its output is milliseconds, or null for `word`. */
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
 * Makes a schema's error: it says what the value must be, and what was given.
 * @param rule - the text after "must be" in the message; for an object, includes an example
 */
export function mustBe(rule: string): { readonly error: (issue: z.core.$ZodRawIssue) => string | undefined } {
  // The message about unknown fields comes from `check`.
  const isAboutFields = ({ code }: z.core.$ZodRawIssue) => code === 'unrecognized_keys';
  return {
    error: (issue) =>
      isAboutFields(issue) ? undefined : `must be ${rule}, not ${showGiven(issue.input)}${adviceOn(issue.input)}`,
  };
}

/** Explains how to convert a string that looks like a number or a boolean, as from an environment variable. */
function adviceOn(given: unknown): string {
  if (typeof given !== 'string') return '';
  if (given.trim() !== '' && Number.isFinite(Number(given))) return ': convert the text with Number()';
  return given === 'true' || given === 'false' ? ": compare the text, as in value === 'true'" : '';
}

const wholeNumberFrom = (min: number, max: number) =>
  `a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`;

/** The schema of the word for no limit. Its output is null. */
export const unlimited = z.pipe(
  z.literal('unlimited'),
  z.transform(() => null),
);

/** The schema of a limit: a whole number from 1 to `max`, or {@link unlimited}. */
export function limitUpTo(max: number) {
  return z.union([unlimited, wholeNumber(1, max)], mustBe(`${wholeNumberFrom(1, max)}, or 'unlimited'`));
}

export function wholeNumber(min: number, max: number) {
  const rule = mustBe(wholeNumberFrom(min, max));
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
