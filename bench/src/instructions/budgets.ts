import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { canInstallPackages, installPackage } from '../../../test/support/redis/debian-package.js';
import { findBinary } from '../../../test/support/redis/find-binary.js';
import type { RedisBinary } from '../../../test/support/redis/redis-process.js';
import type { Verdict } from '../check.js';
import { formatDifference } from '../report/format.js';
import { WORKLOADS } from './workloads.js';

/** How far a count may be from its budget, upwards or downwards: a budget that is too high hides the next increase. */
const TOLERANCE = 0.02;

/** Content of the file of budgets. */
interface Budgets {
  /** The server that the counts are of: another version executes others. */
  readonly server: string;
  /** Redis instructions per message, by workload. */
  readonly instructions: Readonly<Record<string, number>>;
}

/** Compares the instructions that Redis executes for messages with the budgets in a file. */
export class InstructionBudgets {
  constructor(private readonly file: string) {}

  /** Compares counts with the budgets. */
  check(counts: Readonly<Record<string, number>>): Verdict[] {
    const { instructions } = this.#read();
    return WORKLOADS.map(({ name, title }) => {
      const [counted, budget] = [counts[name], instructions[name]];
      if (counted === undefined || budget === undefined) return { outcome: 'broken', words: `${title}: no budget` };
      const difference = counted / budget - 1;
      const words = `${title}: ${counted.toLocaleString('en')} Redis instructions, ${formatDifference(difference)} (budget: ${budget.toLocaleString('en')} ±${TOLERANCE * 100} %)`;
      return { outcome: Math.abs(difference) <= TOLERANCE ? 'kept' : 'broken', words };
    });
  }

  /** True if a count is within its budget, or there is none. */
  keeps(workload: string, count: number): boolean {
    const budget = this.#read().instructions[workload];
    return Number.isFinite(count) && (budget === undefined || count <= budget * (1 + TOLERANCE));
  }

  write(counts: Readonly<Record<string, number>>, server: string): void {
    const budgets: Budgets = { server, instructions: counts };
    writeFileSync(this.file, `${JSON.stringify(budgets, null, 2)}\n`);
  }

  /** @throws with words for the user, if the counts of a server cannot be compared with the budgets */
  assertSuits(server: string): void {
    const known = this.#read().server;
    if (server !== known) throw new Error(`the budgets are those of ${known}, and this is ${server}`);
  }

  #read(): Budgets {
    return JSON.parse(readFileSync(this.file, 'utf8')) as Budgets;
  }
}

/** A server whose instructions can be counted. */
export interface Countable {
  readonly binary: RedisBinary;
  /** Its name and version, and what it runs on. */
  readonly server: string;
}

/**
 * Finds a server on the PATH, and installs valgrind if that is possible.
 *
 * @throws with words for the user
 */
export function findCountable(): Countable {
  const binary = findBinary();
  if (!binary) throw new Error('there is no redis-server on the PATH');
  if (!hasValgrind()) {
    if (!canInstallPackages()) throw new Error('valgrind is not installed');
    installPackage('valgrind');
  }
  const { stdout } = spawnSync(binary.path, ['--version'], { argv0: binary.name, encoding: 'utf8' });
  const [, name = '', number = ''] = /^(\w+) server v=([\d.]+)/i.exec(stdout) ?? [];
  return { binary, server: `${name} ${number}, ${process.arch}` };
}

function hasValgrind(): boolean {
  try {
    execFileSync('valgrind', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
