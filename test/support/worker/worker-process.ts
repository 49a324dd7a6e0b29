import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { argumentsFor, ENVIRONMENT } from '../run-program.js';
import { until } from '../until.js';
import type { Entries, Entry, EntryOf, WorkerSettings } from './worker-settings.js';

/** Others may want the processors as well. */
const START_TIMEOUT = 90_000;

const PROGRAM = new URL('./worker.ts', import.meta.url);

/** A process of its own that handles a queue and tells what it does. */
export class WorkerProcess {
  readonly entries: Entry[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #log = '';

  private constructor(settings: WorkerSettings) {
    const child = spawn(process.execPath, [...argumentsFor(PROGRAM), JSON.stringify(settings)], {
      env: ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // The end of its output, not of the process: every line has been read by then.
    this.#exited = once(child, 'close');
    createInterface(child.stdout).on('line', (line) => this.#read(line));
    child.stderr.on('data', (data) => (this.#log += String(data)));
    this.#child = child;
  }

  /** Starts a worker, and waits until its application runs, or a handler has killed it already. */
  static async start(settings: WorkerSettings): Promise<WorkerProcess> {
    const worker = new WorkerProcess(settings);
    const hasEnded = () => worker.#child.exitCode !== null || worker.#child.signalCode !== null;
    await until(() => hasEnded() || worker.of('ready').length > 0, { within: START_TIMEOUT });
    if (worker.#child.exitCode !== null) throw new Error(`The worker did not start:\n${worker.log}`);
    return worker;
  }

  /** Warnings, errors, and whatever else is no journal line. */
  get log(): string {
    return this.#log;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Entries of one kind, in the order of their happening. */
  of<Event extends keyof Entries>(event: Event): EntryOf<Event>[] {
    return this.entries.filter((entry) => entry.event === event) as EntryOf<Event>[];
  }

  /** Stops the process where it is, as a suspended machine does, until {@link thaw}. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Sends a signal and waits for the end of the process. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    await this.#exited;
  }

  #read(line: string): void {
    if (line.startsWith('{"event"')) this.entries.push(JSON.parse(line) as Entry);
    else this.#log += `${line}\n`;
  }
}
