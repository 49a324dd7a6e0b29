import type { Mutant } from './mutation/mutant.js';

/** A mutant that no test can notice, because the program does the same. */
export interface Equivalent {
  readonly file: string;
  /** The text of its line. */
  readonly line: string;
  readonly kind: string;
  /** The replaced part of the line, if the line has several of the kind. */
  readonly original?: string;
  /** The reason why no check can detect it. */
  readonly reason: string;
}

/** At most a twentieth of what is drawn: otherwise the mutations are the wrong ones. */
export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'lib/store/native/native-directory.ts',
    line: "readonly #origin = randomBytes(9).toString('base64url');",
    kind: 'constant-changed',
    reason: 'Any number of random bytes is as good that tells processes apart.',
  },
  {
    file: 'lib/consumer/claimer.ts',
    line: "readonly #consumerId = randomBytes(9).toString('base64url');",
    kind: 'constant-changed',
    reason: 'Any number of random bytes is as good that tells processes apart.',
  },
  {
    file: 'lib/families/family-member.ts',
    line: 'found = { hasFound: false, isMore: false, nextIn: failurePause(++this.#failures) };',
    kind: 'constant-changed',
    original: 'false',
    reason: 'After a failure, nextIn is a number, so hasFound is not read, and without a worker, neither is isMore.',
  },
  {
    file: 'lib/store/memory/memory-stores.ts',
    line: '#registrations = 0;',
    kind: 'constant-changed',
    reason: 'Registrations are only compared with each other.',
  },
  {
    file: 'lib/redis/commands/redis-server.ts',
    line: 'if (stream.writableCorked > 0) return;',
    kind: 'exit-removed',
    reason: 'A stream counts its corks, and the last of the uncorks of the turn writes: the line only saves work.',
  },
];

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
