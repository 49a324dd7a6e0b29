/** `npm run mutants -- --seed 1 --count 60`; `--help` lists the options. */
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { recordProof } from '../../release/proof-record.js';
import { draw, type Drawn } from './draw.js';
import { equivalentOf } from './equivalent.js';
import { JsonLines } from './json-lines.js';
import { Judge, type Kill, type Stage, STAGES } from './judge.js';
import { mutantsOf, mutatedFiles } from './mutation/mutant.js';
import { copyOf, digestOf, filesOf } from './project-files.js';
import { Suites } from './suites/suites.js';
import { rateOf, tableOf, type Verdict } from './table.js';
import { TypeCheck } from './type-check.js';

const USAGE = `Makes small mistakes in the library, one at a time, and tells which tests notice.

npm run mutants -- [options]

  --seed TEXT        draw by this seed (default: 1)
  --count COUNT      how many mutants (default: 60)
  --in PATHS         draw only from files whose paths start with one of these, or \`file:line\`; separated by commas
  --only TEXT        try only the drawn mutants whose names contain this
  --until STAGE      stop after related, simulation, test or other (default): what a stage notices, later ones need not
  --suites PATHS     run only suites whose paths start with one of these, separated by commas; only kills are kept
  --list             print what is drawn, and try nothing
  --help             print this text

What is known is kept in temp/mutants until the library changes: an interrupted run goes on where it was, and a survivor is tried
again once the tests have changed. Exit code: 0, or 1 if a mutant survives.`;

/** The known results for a mutant, whichever seed drew it. */
interface Known {
  readonly place: string;
  readonly compiles: boolean;
  readonly kill?: Kill;
  /** The stages that it survived, and the digest of the tests that ran. */
  readonly survived?: { readonly stages: readonly Stage[]; readonly tests: string };
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '60' },
    in: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    until: { type: 'string', default: 'other' },
    suites: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const write = (line: string) => void process.stdout.write(`${line}\n`);

if (values.help) write(USAGE);
else process.exitCode = await run();

/** @returns the exit code */
async function run(): Promise<number> {
  const last = STAGES.findIndex((stage) => stage === values.until);
  const count = Number(values.count);
  if (last < 0) return refuse(`--until must be one of ${STAGES.join(', ')}.`);
  if (!Number.isInteger(count) || count < 1) return refuse('--count must be a whole number from 1.');
  const project = join(import.meta.dirname, '../..');
  const files = filesOf(project);
  const folder = join(
    project,
    'temp/mutants',
    digestOf(
      project,
      files.filter((file) => file.startsWith('lib/')),
    ),
  );
  const known = new JsonLines<Known>(join(folder, 'mutants.jsonl'), ({ place }) => place);
  const drawn = drawFrom(project, known, count);
  if (values.list) {
    for (const mutant of drawn) write(show(mutant));
    return 0;
  }
  // Nobody waits for this as much as for what else the machine does.
  setPriority(15);
  const tests = digestOf(
    project,
    files.filter((file) => file.startsWith('test/')),
  );
  const stages = STAGES.slice(0, last + 1);
  const isOpen = ({ place }: Drawn) => {
    const { kill, survived } = known.get(place) ?? {};
    return !kill && !(survived?.tests === tests && stages.every((stage) => survived.stages.includes(stage)));
  };
  const tried = drawn.filter(({ name }) => name.includes(values.only));
  const open = tried.filter((mutant) => !equivalentOf(mutant) && isOpen(mutant));
  if (open.length > 0) {
    const tree = copyOf(project, files);
    const suites = new Suites(tree, join(folder, 'suites.jsonl'), values.suites.split(',').filter(Boolean));
    const judge = new Judge(tree, suites);
    await judge.check();
    await suites.record(write);
    for (const mutant of open) {
      const before = known.get(mutant.place)?.survived;
      const done = before?.tests === tests ? before.stages : [];
      const kill = await judge.judge(
        mutant,
        stages.filter((stage) => !done.includes(stage)),
      );
      const { place } = mutant;
      if (kill) known.put({ place, compiles: true, kill });
      else if (!values.suites) {
        known.put({ place, compiles: true, survived: { stages: [...new Set([...done, ...stages])], tests } });
      }
      write(
        kill ? `killed    ${mutant.name}\n    ${kill.stage}: ${kill.by}: ${kill.why}` : `SURVIVED  ${show(mutant)}`,
      );
    }
  }
  return report(tried, known);
}

function refuse(problem: string): number {
  process.stderr.write(`${problem}\n`);
  return 2;
}

/** Draws mutants that compile. What does not compile is remembered. */
function drawFrom(project: string, known: JsonLines<Known>, count: number): Drawn[] {
  const within = values.in.split(',').filter(Boolean);
  const isWithin = (text: string) => within.length === 0 || within.some((start) => text.startsWith(start));
  const mutants = mutatedFiles(project)
    .filter((file) => isWithin(file) || within.some((start) => start.startsWith(`${file}:`)))
    .flatMap((file) => mutantsOf(project, file))
    .filter(({ file, line }) => isWithin(file) || within.includes(`${file}:${line}`));
  let typeCheck: TypeCheck | undefined;
  const drawn: Drawn[] = [];
  const compiles = draw(mutants, values.seed, (mutant) => {
    const already = known.get(mutant.place);
    if (already) return already.compiles;
    typeCheck ??= new TypeCheck(project);
    const entry = { place: mutant.place, compiles: typeCheck.compiles(mutant) };
    known.put(entry);
    return entry.compiles;
  });
  for (const mutant of compiles) {
    drawn.push(mutant);
    if (drawn.length === count) break;
  }
  return drawn;
}

/** @returns the exit code */
function report(mutants: readonly Drawn[], known: JsonLines<Known>): number {
  const verdicts = mutants.map((mutant): Verdict => {
    const { kill, survived } = known.get(mutant.place) ?? {};
    const equivalent = equivalentOf(mutant)?.reason;
    if (equivalent !== undefined) return { mutant, outcome: { equivalent } };
    return { mutant, outcome: kill ?? { survived: survived?.stages ?? [] } };
  });
  const survivors = verdicts.filter(({ outcome }) => 'survived' in outcome);
  write(`\nSeed ${values.seed}, ${mutants.length} mutants\n`);
  write(tableOf(verdicts));
  const rates = {
    'noticed by npm test and the simulation': rateOf(verdicts, ['related', 'simulation', 'test']),
    'noticed by all suites': rateOf(verdicts, STAGES),
  };
  write('');
  for (const [by, rate] of Object.entries(rates)) write(`${by}: ${rate}`);
  for (const { mutant } of survivors) write(`survived: ${show(mutant)}`);
  const passed = survivors.length === 0;
  recordProof({
    ...{ script: 'mutants', args: process.argv.slice(2), passed },
    figures: { mutants: mutants.length, ...rates, survived: survivors.length },
  });
  return passed ? 0 : 1;
}

function show({ name, original, replacement }: Drawn): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 80);
  return `${name}\n    ${short(original)}  →  ${short(replacement) || '(nothing)'}`;
}
