import { Redis } from 'ioredis';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedis } from '../../test/support/redis/start-redis.js';
import { check, type Verdict } from './check.js';
import { type Command, readCommand, USAGE } from './command-line.js';
import { ProcessBudgets } from './cost/budgets.js';
import { measureCosts } from './cost/measure-costs.js';
import { tableOfUnusedFeatures } from './cost/unused-features.js';
import { WORKLOADS as COST_WORKLOADS } from './cost/workloads.js';
import { type Countable, findCountable, InstructionBudgets } from './instructions/budgets.js';
import { countInstructions } from './instructions/count-instructions.js';
import { toChart } from './report/chart.js';
import { readEnvironment } from './report/environment.js';
import { toMarkdown } from './report/table.js';
import type { Results } from './results.js';
import { run } from './run.js';
import { SCENARIOS } from './scenarios/index.js';
import { EARLIER, BASELINE, type System, systemOf, SYSTEMS } from './systems.js';

/** Relative to this file after its compilation. */
const BENCH = fileURLToPath(new URL('../../../', import.meta.url));
/** The copy that `prepare.js` makes. */
const LIBRARY = `${BENCH}dist/node_modules/nestjs-delay-queue/dist/lib/esm`;
const OUTPUT = resolve(BENCH, '../temp/bench');

const LABELS = { kept: 'kept     ', broken: 'BROKEN   ', undecided: 'UNDECIDED' };

const startedAt = new Date();
const onProgress = (line: string) => console.error(`${secondsSince(startedAt).padStart(5)} s  ${line}`);

const command = readCommandOrExit();
if (command.unused) await showUnusedFeatures(command);
else if (command.mode === 'check' || command.budgets.length === 0) await measure(command);
if (command.budgets.includes('process')) await compareProcess(command);
if (command.budgets.includes('instructions')) await compareInstructions(command);

async function measure(command: Command): Promise<void> {
  const results = await measureAll(command);
  const report = `${toMarkdown(results)}\n\n${environmentOf(results)}`;
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(`${OUTPUT}/results.json`, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(`${OUTPUT}/results.md`, `${report}\n`);
  writeFileSync(`${OUTPUT}/chart.svg`, toChart(results));
  console.log(`\n${report}\n\nThe table, all values and a chart are in ${OUTPUT}.`);
  if (!command.namesSystems && command.mode !== 'check') {
    console.log(leftOut());
    for (const line of missing()) console.log(line);
  }
  for (const line of results.failures) {
    console.log(line);
    process.exitCode = 1;
  }
  if (command.mode === 'check') print(check(results.rows));
}

/** Measures what messages of the first system cost the process, and compares that with the budgets. */
async function compareProcess({ mode, update, systems, against }: Command): Promise<void> {
  const budgets = new ProcessBudgets(`${BENCH}process.json`);
  try {
    if (!update) budgets.assertSuits();
  } catch (error) {
    console.log(`NOT CHECKED  the cost of the process: ${(error as Error).message}`);
    return;
  }
  const pair = [systems[0]!, systemOf(BASELINE)] as const;
  const libraries = pair.map((system) => libraryOf(system, against)) as [string, string];
  const costs = await measureCosts({ systems: pair, libraries }, COST_WORKLOADS, {
    isEnough: (workload, interval) => (update ? budgets.isNarrow(interval) : budgets.decides(workload, interval)),
    // The fewest rounds.
    limit: mode === 'quick' ? 0 : 150_000,
    onProgress,
  });
  if (update) budgets.write(costs);
  print(budgets.check(costs, COST_WORKLOADS));
}

async function showUnusedFeatures({ mode }: Command): Promise<void> {
  const limit = mode === 'quick' ? 0 : 90_000;
  console.log(`\n${await tableOfUnusedFeatures({ library: LIBRARY, limit, onProgress })}`);
}

/** Counts the instructions of the first system, and compares them with the budgets. */
async function compareInstructions({ update, systems, against }: Command): Promise<void> {
  const budgets = new InstructionBudgets(`${BENCH}instructions.json`);
  let countable: Countable;
  try {
    countable = findCountable();
    if (!update) budgets.assertSuits(countable.server);
  } catch (error) {
    console.log(`NOT CHECKED  the instructions of Redis: ${(error as Error).message}`);
    return;
  }
  const { binary, server } = countable;
  const [system] = systems as readonly [System];
  const settings = { system: system.name, library: libraryOf(system, against), binary, onProgress };
  const counts = await countInstructions(settings, (workload, count) => budgets.keeps(workload, count));
  if (update) budgets.write(counts, server);
  print(budgets.check(counts));
}

/** The folder of the build that a system runs. */
function libraryOf({ name }: System, against: string | undefined): string {
  return name === EARLIER ? resolve(against!) : LIBRARY;
}

function environmentOf({ environment, minutes, rounds }: Results): string {
  const facts = { ...environment, rounds, minutes };
  return Object.entries(facts)
    .map(([name, value]) => `- ${name}: ${value}`)
    .join('\n');
}

function leftOut(): string {
  const titles = SYSTEMS.filter(({ onRequest, problem }) => onRequest && problem).map(({ title }) => title);
  return `Left out: ${titles.join(', ')}. \`npm run compare:redisson\` measures them with a JDK ≥ 17 and Maven.`;
}

/** The systems that are measured by default, but not on this machine. */
function missing(): string[] {
  const wanted = SYSTEMS.filter(({ onRequest }) => !onRequest);
  return wanted.flatMap(({ title, problem }) => {
    const words = problem?.();
    return words === undefined ? [] : [`NOT MEASURED  ${title}: ${words}`];
  });
}

function print(verdicts: readonly Verdict[]): void {
  for (const { outcome, words } of verdicts) console.log(`${LABELS[outcome]}  ${words}`);
  if (verdicts.some(({ outcome }) => outcome === 'undecided')) {
    console.log(
      'UNDECIDED: other work on this machine hides the answer. That fails nothing, and checks nothing: run it again.',
    );
  }
  if (verdicts.some(({ outcome }) => outcome === 'broken')) {
    console.log(
      'BROKEN: this package does not cost what it should. If that is intended, change the limit in bench/src/check.ts, or write\nnew budgets: npm run bench -- --process --update, or --instructions --update.',
    );
    process.exitCode = 1;
  }
}

function readCommandOrExit(): Command {
  try {
    const read = readCommand(process.argv.slice(2));
    if (read) return read;
    console.log(USAGE);
    return process.exit();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

async function measureAll({ mode, rounds, systems, scenarios, against }: Command): Promise<Results> {
  const size = mode === 'full' ? 'full' : 'quick';
  const environment = await environmentHere();
  const failures: string[] = [];
  const rows = await run({
    size,
    rounds,
    systems,
    scenarios: SCENARIOS.filter(({ name }) => scenarios.includes(name)),
    libraryOf: (system) => libraryOf(system, against),
    onProgress,
    onFailure: (line) => {
      onProgress(line);
      failures.push(line);
    },
  });
  const minutes = Math.round(Number(secondsSince(startedAt)) / 6) / 10;
  const names = systems.map(({ name }) => name);
  return { startedAt: startedAt.toISOString(), minutes, size, rounds, systems: names, environment, failures, rows };
}

async function environmentHere(): Promise<Record<string, string>> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    return await readEnvironment(redis);
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

function secondsSince(start: Date): string {
  return ((Date.now() - start.getTime()) / 1000).toFixed(0);
}
