import type { z } from 'zod/mini';
import { showFailure } from '../message/failure.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { nearestNames } from '../message/nearest-name.js';
import { QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import { mustBe } from './values-schema.js';

/**
 * Checks a value against a schema.
 * @param place - where the value was given, for the error
 * @param placeOf - returns where an option that is unknown here belongs; undefined if nowhere
 * @throws DelayQueueError `INVALID_OPTION`, naming each invalid field
 */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: z.input<Schema>,
  place: string,
  placeOf?: (option: string) => string | undefined,
): z.output<Schema> {
  const result = parse(schema, value, place);
  if ('data' in result) return result.data;
  const adviceOn = (option: string, names: readonly string[]) => placeOf?.(option) ?? spelling(option, names);
  const described = result.issues.flatMap((issue) => describeIssue(issue, [], adviceOn));
  // No cause: it would add much text and no information.
  throw new DelayQueueError('INVALID_OPTION', `${place}: ${[...new Set(described)].join('; ')}`);
}

type Parsed<Output> = { readonly data: Output } | { readonly issues: readonly z.core.$ZodIssue[] };

function parse<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, place: string): Parsed<z.output<Schema>> {
  try {
    const result = schema.safeParse(value, { error: describeRaw });
    // Within the `try`, because reading the issues reads the value again.
    return result.success ? { data: result.data } : { issues: result.error.issues };
  } catch (cause) {
    throw new DelayQueueError('INVALID_OPTION', `${place}: a value cannot be read (${showFailure(cause)})`, { cause });
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

function spelling(option: string, names: readonly string[]): string {
  const [nearest] = nearestNames(option, names);
  return nearest === undefined ? `the options are ${names.join(', ')}` : `did you mean ${nearest}?`;
}

const isUnknownKey = (issue: z.core.$ZodIssue) => issue.code === 'unrecognized_keys';
const show = (path: readonly PropertyKey[]) => (path.length === 0 ? 'the options' : path.map(String).join('.'));
