import type { ProofRecord } from './proof-record.js';

/** What the commands have shown. */
export interface Proven {
  /** Of what is shipped, when the records were collected. */
  readonly commit: string;
  readonly records: readonly ProofRecord[];
}

export declare const PROOFS: readonly { readonly tries: string; readonly command: string }[];
export declare function pageOf(proven: Proven): Promise<string>;
