import type { Readable, Writable } from 'node:stream';

/** Where the command line reads and writes: usually the streams of the process. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  /** For results. */
  readonly output: Writable & { readonly isTTY?: boolean };
  /** For problems and questions. */
  readonly problems: Writable;
}
