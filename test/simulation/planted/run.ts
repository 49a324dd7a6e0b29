/**
 * `npm run simulate:planted -- --only slot-not-returned --minutes 2 --messages 3000 --jobs 2`: whether the simulation finds each planted
 * bug in time, and nothing where none is planted.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { recordProof } from '../../../release/proof-record.js';
import { type PlantedBug, plantedBugs } from './planted-bugs.js';
import { type Find, look, search } from './search.js';
import { CompiledTrees } from './compiled-trees.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '1' },
    messages: { type: 'string', default: '3000' },
    jobs: { type: 'string', default: '2' },
  },
});

interface Row {
  readonly bug: PlantedBug;
  readonly find: Find | undefined;
  /** Undefined: it was found. */
  readonly problem: string | undefined;
}

const limits = { messages: Number(values.messages), seconds: 60 * Number(values.minutes) };
const only = values.only.split(',').filter(Boolean);
const project = join(import.meta.dirname, '../../..');
const all = plantedBugs(import.meta.dirname);
const unknown = only.filter((name) => !all.some((bug) => bug.name === name));
if (unknown.length > 0) throw new Error(`There is no planted bug ${unknown.join(', ')}`);
const bugs = only.length > 0 ? all.filter(({ name }) => only.includes(name)) : all;
const trees = new CompiledTrees(project);
const write = (line: string) => void process.stdout.write(`${line}\n`);

process.on('exit', () => trees.removeAll());
process.once('SIGINT', () => process.exit(130));

const rows: Row[] = [];
await eachOf(bugs, async (bug) => {
  const row = await tryBug(bug);
  rows.push(row);
  write(show(row));
});
const missed = rows.filter(({ problem }) => problem !== undefined);
const lastSeed = Math.max(0, ...rows.map(({ find }) => find?.seed ?? 0));
const clean = await unplanted(lastSeed);
write(
  `\n${bugs.length - missed.length} of ${bugs.length} planted bugs found, in at most ${limits.seconds} s of CPU each.`,
);
for (const { bug, problem } of missed) write(`${bug.name}: ${problem}`);
const passed = missed.length === 0 && clean;
recordProof({
  ...{ script: 'simulate:planted', args: process.argv.slice(2), passed },
  figures: {
    'planted bugs': bugs.length,
    found: bugs.length - missed.length,
    'seeds without a planted bug': lastSeed,
    ...(missed.length > 0 && { missed: missed.map(({ bug }) => bug.name).join(', ') }),
  },
});
process.exitCode = passed ? 0 : 1;

async function tryBug(bug: PlantedBug): Promise<Row> {
  const tree = trees.copy(bug.name);
  const problem = trees.apply(bug.patch, tree);
  if (problem !== undefined) {
    return { bug, find: undefined, problem: `no longer applies: rewrite it. ${problem}` };
  }
  try {
    const find = await search(tree, limits);
    return { bug, find, problem: problemOf(find) };
  } catch (error) {
    return { bug, find: undefined, problem: String(error) };
  } finally {
    trees.remove(tree);
  }
}

function problemOf({ broken, seed, seconds }: Find): string | undefined {
  if (!broken) return `nothing in ${seed} seeds`;
  return seconds > limits.seconds ? 'too late' : undefined;
}

/** What is seen without a planted bug proves nothing about those that are planted. @returns whether nothing is */
async function unplanted(lastSeed: number): Promise<boolean> {
  const tree = trees.copy('unplanted');
  let isClean = true;
  const seeds = Array.from({ length: lastSeed }, (_, i) => i + 1);
  await eachOf(seeds, async (seed) => {
    const { broken } = await look(tree, seed, limits);
    if (!broken) return;
    isClean = false;
    write(`NOTHING IS PLANTED, and yet seed ${seed} breaks a promise: ${broken.promise}: ${broken.detail}`);
  });
  if (isClean) write(`Without a planted bug, seeds 1 to ${lastSeed} break no promise.`);
  return isClean;
}

/** Does something with each, so many at a time. */
async function eachOf<Item>(items: readonly Item[], task: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await task(item);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

function show({ bug, find, problem }: Row): string {
  const where = find ? `${find.seconds.toFixed(1).padStart(6)} s  seed ${find.seed}` : '';
  const seen = find?.broken && `${find.broken.promise}: ${find.broken.detail}`;
  const what = [problem && `NOT FOUND: ${problem}`, seen].filter(Boolean).join('; ');
  return `${bug.name.padEnd(32)} ${where.padEnd(18)} ${what}\n    ${bug.title}`;
}
