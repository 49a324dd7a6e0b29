import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ENVIRONMENT } from '../support/run-program.js';
import { until } from '../support/until.js';
import type { CommandOptions } from './run-command.js';

// Far more than needed; a program that has not printed what it is to print by then fails.
const PRINT_TIMEOUT = 60_000;

/** A program that runs until it is ended. */
export class RunningProgram {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor([file, ...args]: readonly [string, ...string[]], { cwd, env }: Pick<CommandOptions, 'cwd' | 'env'>) {
    const environment = { ...ENVIRONMENT, ...env };
    // Leads a group of its own, because `npm start` starts other processes, which are ended with it.
    const options = { cwd, env: environment, detached: true };
    this.#child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#exited = once(this.#child, 'exit');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.#output += String(chunk)));
    }
  }

  /**
   * Waits until it has printed the words, or what the pattern describes.
   *
   * @returns what it printed of them
   * @throws Error with all of its output if it exits before, or takes too long
   */
  async printed(words: string | RegExp): Promise<string> {
    const find = () =>
      typeof words === 'string' ? this.#output.includes(words) && words : words.exec(this.#output)?.[0];
    await until(() => Boolean(find()) || this.#child.exitCode !== null, { within: PRINT_TIMEOUT });
    const found = find();
    if (!found) throw new Error(`The program did not print '${String(words)}':\n${this.#output}`);
    return found;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null) process.kill(-this.#child.pid!, 'SIGTERM');
    await this.#exited;
  }
}
