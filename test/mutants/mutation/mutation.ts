/** A small change of the text of one file. */
export interface Mutation {
  /** The kind of change, such as `boundary-moved`. */
  readonly kind: string;
  /** Offset of the first character that is replaced. */
  readonly start: number;
  /** Offset behind the last one. */
  readonly end: number;
  readonly replacement: string;
}

/** Returns the text of the file with the change made. */
export function mutated(text: string, { start, end, replacement }: Mutation): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Another number: the next one if it is small, because an off-by-one counts there; else twice as much. */
export function otherNumber(value: number): string {
  return String(value < 10 ? value + 1 : value * 2);
}
