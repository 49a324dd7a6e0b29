import type { z } from 'zod/mini';
import { showFailure } from '../message/failure.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { QUEUE_OR_FAMILY_RULE } from '../message/queue-family.js';
import { whereItBelongs } from './options-of-layouts.js';

/**
 * Checks a value against a schema.
 *
 * @param place - where the value was given, for the error
 * @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong
 */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: z.input<Schema>,
  place: string,
): z.output<Schema> {
  const result = parse(schema, value, place);
  if ('data' in result) return result.data;
  const problems = new Set(result.issues.flatMap((issue) => describeIssue(issue, [])));
  // Without a cause, which would fill the screen and say nothing more.
  throw new DelayQueueError('INVALID_OPTION', `${place}: ${[...problems].join('; ')}`);
}

type Parsed<Output> = { readonly data: Output } | { readonly issues: readonly z.core.$ZodIssue[] };

function parse<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, place: string): Parsed<z.output<Schema>> {
  try {
    const result = schema.safeParse(value);
    // Reading the issues looks at the value once more.
    return result.success ? { data: result.data } : { issues: result.error.issues };
  } catch (cause) {
    throw new DelayQueueError('INVALID_OPTION', `${place}: a value cannot be read (${showFailure(cause)})`, { cause });
  }
}

function describeIssue(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): string[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) => `${show([...path, key])} is not an option; ${whereItBelongs(key) ?? 'check its spelling'}`,
    );
  }
  if (issue.code === 'invalid_key') return [`${show(path)}: ${QUEUE_OR_FAMILY_RULE}`];
  // The branch of a union that matched furthest names the field that is really wrong.
  if (issue.code === 'invalid_union') {
    const furthest = issue.errors.find((branch) =>
      branch.every((inner) => inner.path.length > 0 || isUnknownKey(inner)),
    );
    if (furthest) return furthest.flatMap((inner) => describeIssue(inner, path));
    const custom = issue.errors.flat().find((inner) => inner.code === 'custom');
    if (custom && issue.message === 'Invalid input') return describeIssue(custom, path);
  }
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return [`${show(path)} must be ${issue.expected === 'record' ? 'an object' : `of type ${issue.expected}`}`];
  }
  return [`${show(path)} ${issue.message}`];
}

const isUnknownKey = (issue: z.core.$ZodIssue) => issue.code === 'unrecognized_keys';
const show = (path: readonly PropertyKey[]) => (path.length === 0 ? 'the value' : path.map(String).join('.'));
