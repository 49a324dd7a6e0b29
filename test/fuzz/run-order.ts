/** What the thread with the targets is told. */
export interface WorkerOrder {
  readonly seed: number;
  readonly inputs: number;
  /** The name of the only target; empty: all. */
  readonly only: string;
  readonly shared: {
    /** The bytes of the current input. */
    readonly input: SharedArrayBuffer;
    /** Two numbers: that of the current input, and its length. */
    readonly state: SharedArrayBuffer;
  };
}

/** An input that breaks a rule. */
export interface Found {
  readonly target: string;
  /** In base64. */
  readonly input: string;
  readonly problem: string;
}
