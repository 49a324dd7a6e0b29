/** What a command has shown. */
export interface ProofRecord {
  /** As somebody would type it. */
  readonly command: string;
  /** The commit of what is shipped. */
  readonly commit: string;
  /** ISO time of its end. */
  readonly date: string;
  readonly passed: boolean;
  readonly figures: Figures;
}

/** Numbers by what was counted, and texts by what they are about. */
export type Figures = Readonly<Record<string, number | string>>;

/** A run of an npm script that has ended. */
export interface ProvingRun extends Pick<ProofRecord, 'passed' | 'figures'> {
  readonly script: string;
  readonly args: readonly string[];
}

export declare const RECORDS: string;
export declare function recordProof(run: ProvingRun): void;
export declare function commitOfCode(): string;
