import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios/index.js';
import { EARLIER, type System, systemOf, SYSTEMS } from './systems.js';

/** Measurements that have a budget in a file. */
export type Budget = 'instructions' | 'process';

/** The request of the user. */
export interface Command {
  readonly mode: 'quick' | 'full' | 'check';
  readonly rounds: number;
  readonly systems: readonly System[];
  readonly scenarios: readonly string[];
  /** The folder of another build of the library. */
  readonly against: string | undefined;
  /** The budgets that are checked. With `mode: 'check'` these are all, otherwise nothing else is measured. */
  readonly budgets: readonly Budget[];
  /** True if the measured values become the budgets. */
  readonly update: boolean;
  /** Prints the table of unused features, and nothing else. */
  readonly unused: boolean;
  /** True if the user named the systems. */
  readonly namesSystems: boolean;
}

export const USAGE = `npm run bench [-- options]

  --quick             fewer messages, one round: about five minutes
  --check             fails if this package is too far from the baseline or exceeds its budgets: about a quarter of an hour
  --instructions      only the budgets in bench/instructions.json: what Redis executes per message, counted with valgrind
  --process           only the budgets in bench/process.json: what each message costs the process
  --update            with one of these three: the measured values become the budgets
  --unused            what each message pays for features that only another queue uses: most of an hour, less with --quick
  --only a,b          these scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --systems a,b       these systems, the first of which is compared with the others: ${SYSTEMS.map(({ name }) => name).join(', ')}
  --rounds n          default 5, with --quick 1
  --against folder    also measures another build of this package: dist/lib/esm of an earlier commit

npm run compare:redisson [-- options]     the same with real Redisson; needs a JDK ≥ 17 and Maven
npm run compare:partitions [-- options]   one queue on a cluster, with several numbers of partitions
`;

const BUDGETS: readonly Budget[] = ['process', 'instructions'];

/** Measurements of `--check`. */
const CHECKED = { systems: 'ours,baseline', scenarios: 'offers,drain,memory' };

/**
 * @returns undefined if the user asks for the usage
 * @throws with words for the user
 */
export function readCommand(args: string[]): Command | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      instructions: { type: 'boolean', default: false },
      process: { type: 'boolean', default: false },
      unused: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      only: { type: 'string' },
      systems: { type: 'string' },
      rounds: { type: 'string' },
      against: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const mode = values.check ? 'check' : values.quick ? 'quick' : 'full';
  const budgets = BUDGETS.filter((budget) => values.check || values[budget]);
  if (values.update && budgets.length === 0) throw new Error('--update: say which budgets, for example --process');
  const rounds = Number(values.rounds ?? { quick: 1, check: 3, full: 5 }[mode]);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds: give a whole number, 1 or more');
  const checked = mode === 'check' ? CHECKED : undefined;
  return {
    mode,
    rounds,
    systems: chooseSystems(values.systems ?? checked?.systems, values.against),
    scenarios: chooseScenarios(mode, values.only ?? checked?.scenarios),
    against: values.against,
    budgets,
    update: values.update,
    unused: values.unused,
    namesSystems: values.systems !== undefined,
  };
}

function chooseSystems(names: string | undefined, against: string | undefined): readonly System[] {
  const known = SYSTEMS.filter(({ name }) => name !== EARLIER || against !== undefined);
  if (names === undefined) return known.filter(({ onRequest, problem }) => !onRequest && problem?.() === undefined);
  const chosen = choose('--systems', names, known.map(nameOf)).map(systemOf);
  for (const { name, problem } of chosen) {
    const words = problem?.();
    if (words !== undefined) throw new Error(`--systems: '${name}' cannot be measured here: ${words}`);
  }
  return chosen;
}

function chooseScenarios(mode: Command['mode'], names: string | undefined): readonly string[] {
  if (names !== undefined) return choose('--only', names, SCENARIOS.map(nameOf));
  return SCENARIOS.filter(({ onRequest, fullOnly }) => !onRequest && !(fullOnly && mode !== 'full')).map(nameOf);
}

/** In the order in which the user names them. */
function choose(option: string, text: string, known: readonly string[]): readonly string[] {
  const chosen = [...new Set(text.split(','))];
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${option}: there is no '${unknown}', only ${known.join(', ')}`);
  return chosen;
}

const nameOf = ({ name }: { readonly name: string }) => name;
