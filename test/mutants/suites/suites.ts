import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Mutant } from '../mutation/mutant.js';
import { JsonLines } from '../json-lines.js';
import { runSuites, type SuiteReport } from './run-suites.js';

/** A suite of `npm test`, as it was when it was recorded. */
interface Recorded extends SuiteReport {
  /** The hash of the suite's text. */
  readonly digest: string;
}

/** Suites that say nothing about the library: those of the mutants themselves. */
const LEFT_OUT = 'test/mutants/';

/** The suites that CI runs and `npm test` does not. */
const OTHERS = /\.(programs|faults|hostile|model|cli|cluster)\.ts$/;

/** Suites that run the scripts in Redis most directly: which lines of Lua a suite runs cannot be told. */
const OF_LUA =
  /^test\/(contract\/(native|group-store|narrowed|rate|queue-directory)|e2e\/(abort|change|dead|follow|groups|listing|pause)|layout\/)/;

/** Run by all suites that use Redis. */
const SENDS_TO_REDIS = 'lib/redis/commands/redis-commands.ts';

/** The number of suites that are tried first, even if they are slow. */
const MIN_RELATED = 8;

/** Further ones are tried first if all of them take no longer than this, in seconds when recorded. */
const RELATED_SECONDS = 60;

/** Knows the suites, and which of them run a line. */
export class Suites {
  readonly #ofTest: readonly string[];
  readonly #others: readonly string[];
  readonly #recorded: JsonLines<Recorded>;
  readonly #failing = new Set<string>();

  /**
   * @param tree - the folder of a copy of the project
   * @param record - the file that keeps what each suite runs
   * @param within - only suites whose paths start with one of these; all if empty
   */
  constructor(
    private readonly tree: string,
    record: string,
    within: readonly string[],
  ) {
    const files = readdirSync(join(tree, 'test'), { recursive: true, encoding: 'utf8' }).map((file) =>
      join('test', file),
    );
    const suites = files.filter((file) => !file.startsWith(LEFT_OUT) && !file.includes('node_modules')).sort();
    const isWithin = (file: string) => within.length === 0 || within.some((start) => file.startsWith(start));
    this.#ofTest = suites.filter((file) => file.endsWith('.test.ts') && isWithin(file));
    this.#others = suites.filter((file) => OTHERS.test(file) && isWithin(file));
    this.#recorded = new JsonLines(record, ({ suite }) => suite);
  }

  /** Of `npm test`, those that most probably notice the mutant, the quickest first. */
  relatedTo(mutant: Mutant): string[] {
    const own = basename(mutant.file).replace(/\.\w+$/, '');
    const related = this.ofTest
      .flatMap((suite) => this.#recorded.get(suite) ?? [])
      .filter(({ suite, covered }) =>
        mutant.file.endsWith('.lua') ? OF_LUA.test(suite) : covered?.[mutant.file]?.includes(mutant.line),
      )
      .sort((a, b) => Number(isNamed(b, own)) - Number(isNamed(a, own)) || a.seconds - b.seconds);
    let seconds = 0;
    return related
      .filter((report, i) => (seconds += report.seconds) <= RELATED_SECONDS || i < MIN_RELATED)
      .map(({ suite }) => suite);
  }

  /**
   * Of `npm test`, those that can notice the mutant: all that run its line, as far as is known, and for Lua all that use Redis. What a suite
   * runs in other processes is not known, so a line that none seems to run may be run by any.
   */
  thatReach(mutant: Mutant): readonly string[] {
    const { file, line } = mutant;
    const reaches = ({ covered }: Recorded) =>
      file.endsWith('.lua') ? covered?.[SENDS_TO_REDIS] !== undefined : covered?.[file]?.includes(line);
    const reaching = this.ofTest.filter((suite) => {
      const recorded = this.#recorded.get(suite);
      return !recorded || reaches(recorded);
    });
    return reaching.length > 0 ? reaching : this.ofTest;
  }

  /** Of `npm test`. */
  get ofTest(): readonly string[] {
    return this.#ofTest.filter((suite) => !this.#failing.has(suite));
  }

  /** The suites that CI runs besides `npm test`. */
  get others(): readonly string[] {
    return this.#others;
  }

  /** The maximum time of suites together, in seconds, on a machine that may be busier than before. */
  patience(suites: readonly string[]): number {
    const seconds = suites.map((suite) => this.#recorded.get(suite)?.seconds ?? 60);
    return 120 + 5 * seconds.reduce((sum, each) => sum + each, 0);
  }

  /**
   * Runs the suites that have changed since they were recorded. One that fails without a mutant is not used from then on: it would
   * kill them all.
   *
   * @param say - told what happens
   * @throws Error if the tests do not run the copy of the library
   */
  async record(say: (line: string) => void): Promise<void> {
    const stale = this.#ofTest.filter((suite) => this.#recorded.get(suite)?.digest !== this.#digestOf(suite));
    if (stale.length === 0) return;
    say(`Recording what ${stale.length} suites run…`);
    // A few at a time, so that little is lost if this is interrupted.
    for (let i = 0; i < stale.length; i += 24) {
      const failed = await this.#recordNow(stale.slice(i, i + 24), 3);
      // On a busy machine, a suite that measures time may fail once.
      for (const { suite } of failed) {
        for (const { problem } of await this.#recordNow([suite], 1)) {
          say(`${suite} fails without a mutant, so it is not used: ${problem}`);
          this.#failing.add(suite);
        }
      }
      say(`  ${Math.min(i + 24, stale.length)} of ${stale.length}`);
    }
    const hasCovered = this.#ofTest.some((suite) => Object.keys(this.#recorded.get(suite)?.covered ?? {}).length > 0);
    if (!hasCovered) throw new Error('The tests do not run the copy of the library that is mutated.');
  }

  /** @returns the suites that failed */
  async #recordNow(suites: readonly string[], workers: number): Promise<SuiteReport[]> {
    const options = { tree: this.tree, suites, workers, bails: false, collectsCoverage: true, seconds: 3600 };
    const { reports, problem } = await runSuites(options);
    if (problem !== undefined) throw new Error(`Without a mutant, jest ${problem}`);
    for (const report of reports) {
      if (report.hasPassed) this.#recorded.put({ ...report, digest: this.#digestOf(report.suite) });
    }
    return reports.filter(({ hasPassed }) => !hasPassed);
  }

  #digestOf(suite: string): string {
    return createHash('sha256')
      .update(readFileSync(join(this.tree, suite)))
      .digest('hex')
      .slice(0, 16);
  }
}

function isNamed({ suite }: SuiteReport, name: string): boolean {
  return basename(suite).startsWith(`${name}.`);
}
