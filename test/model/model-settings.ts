/**
 * How long the hunt is, and where it goes: `MODEL_RUNS` for a long one, the others to see a failure again. Every failure
 * prints what to set.
 */
export interface ModelSettings {
  readonly runs: number;
  readonly seed: number;
  /** The way to a counter-example that was found and shrunk. */
  readonly path: string | undefined;
  /** Which of its commands were run. */
  readonly replay: string | undefined;
}

export function modelSettings(defaultRuns: number): ModelSettings {
  const { MODEL_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
  return {
    runs: Number(MODEL_RUNS || defaultRuns),
    seed: Number(MODEL_SEED || Math.floor(Math.random() * 2 ** 31)),
    path: MODEL_PATH || undefined,
    replay: MODEL_REPLAY || undefined,
  };
}
