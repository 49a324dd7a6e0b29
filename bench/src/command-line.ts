import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios/index.js';
import { SYSTEMS } from './systems.js';

/** What the user asks for. */
export interface Command {
  readonly mode: 'quick' | 'full' | 'check';
  readonly rounds: number;
  readonly systems: readonly string[];
  readonly scenarios: readonly string[];
  /** The folder of another build of the library, to compare with. */
  readonly against: string | undefined;
}

export const USAGE = `npm run bench [-- options]

  --quick             fewer messages, one round: about two minutes
  --check             whether this package keeps its distance to the floor: under a minute, fails if not
  --only a,b          these scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --systems a,b       these systems: ${SYSTEMS.map(({ name }) => name).join(', ')}
  --rounds n          default 5, quick 1
  --against folder    also measures another build of this package, which lies there (dist/lib/esm of an earlier commit)
`;

/** What `--check` measures. */
const CHECKED = { systems: 'ours,floor', scenarios: 'offers,drain,memory' };

/**
 * @returns undefined if the user only wants to know what there is to ask for
 * @throws with words for the user
 */
export function readCommand(args: string[]): Command | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      only: { type: 'string' },
      systems: { type: 'string' },
      rounds: { type: 'string' },
      against: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const mode = values.check ? 'check' : values.quick ? 'quick' : 'full';
  const rounds = Number(values.rounds ?? { quick: 1, check: 3, full: 5 }[mode]);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds: give a whole number, 1 or more');
  const usual = SYSTEMS.map(({ name }) => name).filter((name) => name !== 'earlier' || values.against !== undefined);
  return {
    mode,
    rounds,
    systems: choose('--systems', values.systems ?? (mode === 'check' ? CHECKED.systems : undefined), usual),
    scenarios: chooseScenarios(mode, values.only ?? (mode === 'check' ? CHECKED.scenarios : undefined)),
    against: values.against,
  };
}

function chooseScenarios(mode: Command['mode'], only: string | undefined): readonly string[] {
  const known = SCENARIOS.map(({ name }) => name);
  if (only !== undefined) return choose('--only', only, known);
  const usual = SCENARIOS.filter(({ onRequest, fullOnly }) => !onRequest && !(fullOnly && mode !== 'full'));
  return usual.map(({ name }) => name);
}

function choose(option: string, text: string | undefined, known: readonly string[]): readonly string[] {
  if (text === undefined) return known;
  const chosen = text.split(',');
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${option}: there is no '${unknown}', only ${known.join(', ')}`);
  return known.filter((name) => chosen.includes(name));
}
