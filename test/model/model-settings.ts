/**
 * Settings from the environment: `MODEL_RUNS` for a longer search, the others to reproduce a failure, which prints them.
 */
export interface ModelSettings {
  readonly runs: number;
  readonly seed: number;
  /** fast-check's path to a shrunk counter-example. */
  readonly path: string | undefined;
  /** The commands of the counter-example that were run. */
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
