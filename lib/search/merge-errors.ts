/**
 * Adds up what is said about the same error: the same name and the same first frame. For tools that show several pages of
 * `deadLetters().byError()`.
 * @param errors - page by page, so that those of later dead letters come later
 * @returns the most frequent first
 */
export function mergeErrors<
  Counted extends {
    readonly name: string;
    readonly frame: string;
    readonly count: number;
    /** When the first of these dead letters died, in whatever form. */
    readonly firstAt: unknown;
  },
>(errors: Iterable<Counted>): Counted[] {
  const merged = new Map<string, Counted>();
  for (const error of errors) {
    // A frame has no line feed, so no other pair has this key.
    const key = `${error.frame}\n${error.name}`;
    const { count = 0, firstAt = error.firstAt } = merged.get(key) ?? {};
    merged.set(key, { ...error, count: count + error.count, firstAt });
  }
  return [...merged.values()].sort((one, other) => other.count - one.count);
}
