/** `npm run simulate -- --seed 7 --messages 100000`; `--help` lists the options. */
import { recordProof } from '../../release/proof-record.js';
import { OptionError, readOptions, USAGE, type CommandOptions } from './command/command-options.js';
import { textOf } from './command/report-text.js';
import { isFailure, runInProcess } from './command/run-in-process.js';
import { isBad, type Ran, runSeeds, totalOf, totalsOf } from './command/run-seeds.js';
import type { RunOrder } from './command/run-order.js';
import { shrink } from './command/shrink.js';
import { setUpPrograms } from '../support/run-program.js';

/** A smaller case is looked for no longer than this. */
const SHRINK_LIMITS = { runs: 200, time: 15 * 60_000 };

const write = (text: string) => void process.stdout.write(text);

try {
  const options = readOptions(process.argv.slice(2));
  if (options) process.exitCode = await simulate(options);
  else write(`${USAGE}\n`);
} catch (error) {
  if (!(error instanceof OptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

/** @returns the exit code */
async function simulate({ orders, jobs, narration, shrinks }: CommandOptions): Promise<number> {
  const tearDown = setUpPrograms();
  process.on('exit', tearDown);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  if (orders.length > 1) write(`seeds ${orders.map(({ seed }) => seed).join(', ')}\n`);
  const startedAt = performance.now();
  const all = await runSeeds({
    ...{ orders, jobs },
    run: (order) => runInProcess(order, { narration, onText: write }),
    onEnd: async ({ order, outcome }) => {
      let text = textOf(order, outcome);
      const violation = 'violations' in outcome ? outcome.violations[0] : undefined;
      if (violation && !narration) {
        text += `\nWhat happened to ${violation.id}:\n`;
        text += await storyOf(order, violation.id);
      }
      write(`${text.trimEnd()}\n`);
    },
  });
  if (all.length > 1) write(`${totalOf(all, (performance.now() - startedAt) / 1000)}\n`);
  if (shrinks) await shrinkFirst(all, jobs);
  const passed = !all.some(isBad);
  recordProof({ script: 'simulate', args: process.argv.slice(2), passed, figures: totalsOf(all) });
  return passed ? 0 : 1;
}

async function shrinkFirst(all: readonly Ran[], jobs: number): Promise<void> {
  for (const { order, outcome } of all) {
    if (isFailure(outcome) || outcome.violations.length === 0) continue;
    const say = (line: string) => write(`${line}\n`);
    const run = (candidate: RunOrder, signal: AbortSignal) => runInProcess(candidate, { signal });
    const smallest = await shrink({ order, report: outcome, jobs, run, say, limits: SHRINK_LIMITS });
    return write(await storyOf(smallest.order, smallest.report.violations[0]!.id));
  }
  write('nothing to shrink: no run breaks a promise\n');
}

/** The history of a message, or process, from a second run. */
async function storyOf(order: RunOrder, about: string): Promise<string> {
  let text = '';
  await runInProcess(
    { ...order, goesOn: false },
    { narration: { kind: 'story', about }, onText: (part) => (text += part) },
  );
  return text;
}
