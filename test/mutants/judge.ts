import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { look, search } from '../simulation/planted/search.js';
import { mutated } from './mutation/mutation.js';
import type { Mutant } from './mutation/mutant.js';
import { runSuites } from './suites/run-suites.js';
import type { Suites } from './suites/suites.js';

/** The checks of a mutant, in order, until one detects it. */
export const STAGES = ['related', 'simulation', 'test', 'other'] as const;
export type Stage = (typeof STAGES)[number];

/** The check that detected a mutant. */
export interface Kill {
  readonly stage: Stage;
  /** A suite, or the simulation. */
  readonly by: string;
  /** The test that failed, or the promise that was broken. */
  readonly why: string;
}

/** The simulation runs on the store in memory: it says nothing about these. */
const NOT_SIMULATED = /^lib\/(redis|store\/native)\//;

/** Of each seed, and of CPU over all seeds. Short runs find more than long ones, because each has other options. */
const SIMULATED = { messages: 3000, seconds: 15 };

/** Tries mutants in a copy of the project. */
export class Judge {
  /** @param tree - the folder of the copy */
  constructor(
    private readonly tree: string,
    private readonly suites: Suites,
  ) {}

  /** Checks that the simulation runs without a mutant: one that never runs would seem to detect every mutant. */
  async check(): Promise<void> {
    await look(this.tree, 1, { ...SIMULATED, messages: 100 });
  }

  /**
   * Mutates the copy, and runs stages until one notices.
   *
   * @param stages - in their order
   * @returns undefined if all of them pass
   */
  async judge(mutant: Mutant, stages: readonly Stage[]): Promise<Kill | undefined> {
    const path = join(this.tree, mutant.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(text, mutant));
    try {
      for (const stage of stages) {
        const kill = await this.#run(stage, mutant);
        if (kill) return kill;
      }
      return undefined;
    } finally {
      writeFileSync(path, text);
    }
  }

  #run(stage: Stage, mutant: Mutant): Promise<Kill | undefined> {
    const related = this.suites.relatedTo(mutant);
    switch (stage) {
      case 'related':
        return this.#runSuites(stage, related, 1);
      case 'simulation':
        return NOT_SIMULATED.test(mutant.file) ? Promise.resolve(undefined) : this.#simulate();
      case 'test':
        return this.#runSuites(
          stage,
          this.suites.thatReach(mutant).filter((suite) => !related.includes(suite)),
          3,
        );
      case 'other':
        return this.#runSuites(stage, this.suites.others, 2);
    }
  }

  /** A suite that fails must fail twice: on a busy machine, one that measures time may fail without a mutant. */
  async #runSuites(stage: Stage, given: readonly string[], workers: number): Promise<Kill | undefined> {
    let suites = given;
    while (suites.length > 0) {
      const { reports, problem } = await this.#runOnce(suites, workers);
      if (problem !== undefined) return { stage, by: 'jest', why: problem };
      const failed = reports.find(({ hasPassed }) => !hasPassed);
      if (!failed) return undefined;
      const again = await this.#runOnce([failed.suite], 1);
      const isKill = again.problem !== undefined || again.reports.some(({ hasPassed }) => !hasPassed);
      if (isKill) return { stage, by: failed.suite, why: failed.problem! };
      const done = new Set(reports.map(({ suite }) => suite));
      suites = suites.filter((suite) => !done.has(suite));
    }
    return undefined;
  }

  #runOnce(suites: readonly string[], workers: number) {
    const seconds = this.suites.patience(suites);
    return runSuites({ tree: this.tree, suites, workers, bails: true, collectsCoverage: false, seconds });
  }

  async #simulate(): Promise<Kill | undefined> {
    const stage = 'simulation';
    try {
      const { broken, seed } = await search(this.tree, SIMULATED);
      return broken && { stage, by: `seed ${seed}`, why: broken.promise };
    } catch (error) {
      return { stage, by: 'simulation', why: String(error).slice(0, 300) };
    }
  }
}
