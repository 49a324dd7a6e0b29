/** A runner of an application's tests. */
export interface TestRunner {
  readonly title: string;
  /** A command of the application's packages, with its arguments. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments for a report in JSON, whose form jest and vitest share. */
  readonly json: readonly string[];
  readonly openHandles: OpenHandleSearch;
}

/** How a test runner finds handles that tests leave open. */
interface OpenHandleSearch {
  readonly args: readonly string[];
  /** Reads from its output what it found. */
  read(output: string): readonly unknown[];
}

/** The settings of jest. */
export interface JestSettings extends Pick<TestRunner, 'title' | 'env'> {
  readonly args?: readonly string[];
}

export function jestRunner({ args = [], ...settings }: JestSettings): TestRunner {
  const read = (output: string) => (JSON.parse(output) as { readonly openHandles: readonly unknown[] }).openHandles;
  return {
    ...settings,
    command: ['jest', ...args],
    json: ['--json'],
    openHandles: { args: ['--json', '--detectOpenHandles'], read },
  };
}

export const VITEST: TestRunner = {
  title: 'its own vitest',
  command: ['vitest', 'run'],
  json: ['--reporter=json'],
  // It kills its workers, so an open handle keeps nothing running, and leaks do not fail it: only its summary tells.
  openHandles: { args: ['--detectAsyncLeaks'], read: (output) => output.match(/\d+ leaks?\b/g) ?? [] },
};

/** The result of a test run. */
export interface TestResult {
  readonly passed: number;
  readonly total: number;
  /** ms, of all tests together, with the hooks around each but without what is loaded before. */
  readonly time: number;
}

/** The part of a report that is read. */
interface JsonReport {
  readonly numPassedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly { readonly assertionResults: readonly { readonly duration: number }[] }[];
}

export function readReport(json: string): TestResult {
  const { numPassedTests, numTotalTests, testResults } = JSON.parse(json) as JsonReport;
  const durations = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ duration }) => duration));
  return { passed: numPassedTests, total: numTotalTests, time: durations.reduce((sum, each) => sum + each, 0) };
}
