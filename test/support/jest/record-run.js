import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT } from '../../../release/packages.js';
import { recordProof } from '../../../release/proof-record.js';

/** What the titles of tests count. */
const COUNTED = /(\d+) (random runs)/;

/** After all tests: records the run for `npm run proof`, if it is one of a whole npm script. */
export default function recordRun(results) {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const script = wholeScript(process.argv.slice(2), scripts);
  if (script !== undefined) recordProof({ script, args: [], passed: results.success, figures: figuresOf(results) });
  return results;
}

/**
 * Finds the npm script that runs jest with exactly these arguments. What somebody adds to them selects some of the tests, or changes what
 * they do.
 */
export function wholeScript(args, scripts) {
  const [, preset] = scripts.test.split('jest.js ');
  const isWhole = (text) => text.replaceAll("'", '').replace('npm test --', preset).endsWith(args.join(' '));
  return Object.keys(scripts).find((name) => name.startsWith('test') && isWhole(scripts[name]));
}

function figuresOf({ numTotalTestSuites, numPassedTests, numFailedTests, numPendingTests, testResults, coverageMap }) {
  const figures = { 'test files': numTotalTestSuites, 'tests passed': numPassedTests };
  if (numFailedTests > 0) figures['tests failed'] = numFailedTests;
  if (numPendingTests > 0) figures['tests skipped'] = numPendingTests;
  for (const { title } of testResults.flatMap((file) => file.testResults)) {
    const [, count, what] = COUNTED.exec(title) ?? [];
    if (what !== undefined) figures[what] = (figures[what] ?? 0) + Number(count);
  }
  for (const [what, { pct }] of Object.entries(coverageMap?.getCoverageSummary().toJSON() ?? {}))
    if (['lines', 'branches', 'functions'].includes(what)) figures[`${what} covered`] = `${pct} %`;
  return figures;
}
