import { z } from 'zod/mini';
import { check } from '../options/check.js';
import { mustBe } from '../options/values-schema.js';

export interface OptionRule<Value = unknown> {
  /** The text after "<option name> must be" in error messages. */
  readonly rule: string;
  readonly accepts: (value: unknown) => boolean;
  /** The option's default; absent if it has none. The option may be omitted either way. */
  readonly fallback?: Value;
}

export interface OptionRules<Resolved extends object> {
  /** The function that takes the options, with parentheses, for errors. */
  readonly place: string;
  /** Valid options, for errors. */
  readonly example: string;
  readonly options: { readonly [Name in keyof Resolved]-?: OptionRule<Resolved[Name]> };
}

/** Checks a layout's options and fills in defaults. @throws DelayQueueError `INVALID_OPTION`, naming each invalid field */
export function checkLayoutOptions<Resolved extends object>(
  given: object,
  { place, example, options }: OptionRules<Resolved>,
): Resolved {
  const shape = Object.entries<OptionRule>(options).map(([name, { rule, accepts, fallback }]) => {
    const value = z.custom(accepts, mustBe(rule));
    return [name, fallback === undefined ? z.optional(value) : z.prefault(value, fallback)] as const;
  });
  const schema = z.strictObject(Object.fromEntries(shape), mustBe(`an object, such as ${example}`));
  return check(schema, given as Record<string, unknown>, place) as Resolved;
}
