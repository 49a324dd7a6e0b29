/**
 * Settings from the environment: `MODEL_RUNS` for a longer search, `MODEL_COMMANDS` for one of shorter runs, the others to reproduce a
 * failure, which prints them.
 */
export interface ModelSettings {
  readonly runs: number;
  /** The largest number of commands in a run. */
  readonly maxCommands: number;
  readonly seed: number;
  /** fast-check's path to a shrunk counter-example. */
  readonly path: string | undefined;
  /** The commands of the counter-example that were run. */
  readonly replay: string | undefined;
}

const RUNS = 40;
const MAX_COMMANDS = 250;

export function modelSettings(): ModelSettings {
  const { MODEL_RUNS, MODEL_COMMANDS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
  return {
    runs: Number(MODEL_RUNS || RUNS),
    maxCommands: Number(MODEL_COMMANDS || MAX_COMMANDS),
    seed: Number(MODEL_SEED || Math.floor(Math.random() * 2 ** 31)),
    path: MODEL_PATH || undefined,
    replay: MODEL_REPLAY || undefined,
  };
}
