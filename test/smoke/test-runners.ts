/** What runs an application's tests. */
export interface TestRunner {
  readonly title: string;
  /** A command of the application's packages, with its arguments. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** The settings of jest. */
export interface JestSettings extends Pick<TestRunner, 'title' | 'env'> {
  readonly args?: readonly string[];
}

export function jestRunner({ args = [], ...settings }: JestSettings): TestRunner {
  return { ...settings, command: ['jest', ...args] };
}

export const VITEST: TestRunner = { title: 'its own vitest', command: ['vitest', 'run'] };
