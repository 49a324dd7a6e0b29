import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The reporter's result for a suite. */
export interface SuiteReport {
  /** Its path in the project. */
  readonly suite: string;
  readonly hasPassed: boolean;
  /** The first test that failed. */
  readonly problem?: string;
  readonly seconds: number;
  /** Lines of the library that it ran, by file, if coverage was collected. */
  readonly covered?: Readonly<Record<string, readonly number[]>>;
}

export interface SuiteRun {
  readonly reports: readonly SuiteReport[];
  /** The reason why the run has no result for all suites: it was too slow, or jest itself failed. */
  readonly problem: string | undefined;
}

export interface RunOptions {
  /** The folder of the project. */
  readonly tree: string;
  /** Run in this order. */
  readonly suites: readonly string[];
  readonly workers: number;
  /** Ends the run when a test fails, instead of running all suites. */
  readonly bails: boolean;
  readonly collectsCoverage: boolean;
  /** After which the run is ended. */
  readonly seconds: number;
}

const MATCH = '<rootDir>/test/**/*.{test,programs,faults,hostile,model,cli,cluster}.ts';

/** Runs suites with jest. */
export async function runSuites(options: RunOptions): Promise<SuiteRun> {
  const { tree, suites, seconds } = options;
  const folder = mkdtempSync(join(tmpdir(), 'suites-'));
  const report = join(folder, 'report.jsonl');
  const env = { ...process.env, SUITE_REPORT: report, SUITE_ORDER: JSON.stringify(suites), NODE_OPTIONS: '' };
  // A group of its own, so that the servers and programs of the tests end with it.
  const child = spawn(process.execPath, argumentsOf(options), { cwd: tree, env, detached: true });
  let output = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-2000)));
  const endGroup = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup();
  }, seconds * 1000);
  process.once('exit', endGroup);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  process.off('exit', endGroup);
  clearTimeout(timer);
  const reports = readReports(report);
  rmSync(folder, { recursive: true });
  const hasFailed = reports.some(({ hasPassed }) => !hasPassed);
  if (isLate) return { reports, problem: 'does not end' };
  return { reports, problem: code === 0 || hasFailed ? undefined : `fails: ${output.trim()}` };
}

function argumentsOf({ suites, workers, bails, collectsCoverage }: RunOptions): string[] {
  return [
    ...['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'],
    ...['--config', 'test/jest.config.js', '--testMatch', MATCH, '--maxWorkers', String(workers)],
    ...['--reporters', './test/mutants/suites/suite-reporter.js'],
    ...['--testSequencer', './test/mutants/suites/in-order.js'],
    ...(bails ? ['--bail', '1', '--env', './test/mutants/suites/stop-at-failure.js', '--testTimeout', '60000'] : []),
    ...(collectsCoverage ? ['--coverage', '--coverageReporters', 'none'] : []),
    ...['--runTestsByPath', ...suites],
  ];
}

function readReports(file: string): SuiteReport[] {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as SuiteReport] : []));
}
