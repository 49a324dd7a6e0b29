import type { Mutant } from './mutation/mutant.js';

/** A mutant that no test can notice, because the program does the same. */
export interface Equivalent {
  readonly file: string;
  /** The text of its line. */
  readonly line: string;
  readonly kind: string;
  /** What of the line is replaced, if the line has several of the kind. */
  readonly original?: string;
  /** Why nobody can notice. */
  readonly reason: string;
}

/** At most a twentieth of what is drawn: otherwise the mutations are the wrong ones. */
export const EQUIVALENT: readonly Equivalent[] = [];

/** Returns the entry that a mutant is listed under. */
export function equivalentOf(mutant: Mutant): Equivalent | undefined {
  return EQUIVALENT.find(
    ({ file, line, kind, original }) =>
      file === mutant.file &&
      line === mutant.lineText &&
      kind === mutant.kind &&
      (original === undefined || original === mutant.original),
  );
}
