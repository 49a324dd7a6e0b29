import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { ENVIRONMENT } from '../../support/run-program.js';
import type { ProcessSettings } from './process-settings.js';

/** Shifts the clock of a process by its `shift`. */
const SHIFT_CLOCK = new URL('../../faults/shifted-clock/shift-clock.js', import.meta.url).href;

function nodeArguments({ shift }: ProcessSettings): string[] {
  return shift === 0 ? [] : ['--import', SHIFT_CLOCK];
}

/** A process of a soak, from its parent's side. */
export class SoakProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #ready: Promise<unknown>;

  /** The file for its output. */
  readonly log: string;
  /** True if its connections go through the proxies. */
  readonly viaProxy: boolean;

  /** @param program - a JavaScript file */
  constructor(
    program: string,
    readonly settings: ProcessSettings,
    { log, viaProxy }: { log: string; viaProxy: boolean },
  ) {
    this.log = log;
    this.viaProxy = viaProxy;
    const file = openSync(log, 'a');
    this.#child = spawn(process.execPath, [...nodeArguments(settings), program, JSON.stringify(settings)], {
      env: ENVIRONMENT,
      stdio: ['ignore', file, file, 'ipc'],
    });
    closeSync(file);
    this.#exited = once(this.#child, 'exit');
    this.#ready = once(this.#child, 'message');
    this.#ready.catch(() => undefined);
  }

  get index(): number {
    return this.settings.index;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its exit code or the signal that ended it, or null while it runs. */
  get end(): number | string | null {
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  /** True if it ended neither normally nor by a signal. */
  get hasCrashed(): boolean {
    return typeof this.end === 'number' && this.end !== 0;
  }

  /**
   * Waits until the process is ready.
   *
   * @throws Error if it ends instead
   */
  async ready(): Promise<void> {
    await Promise.race([this.#ready, this.#exited]);
    if (!this.isRunning) throw new Error(`A process ended (${this.end}) before it was ready; see ${this.log}`);
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Asks the process to finish gracefully. */
  askToStop(): void {
    if (this.isRunning && this.#child.connected) this.#child.send('stop');
  }

  async exited(): Promise<void> {
    await this.#exited;
  }

  async kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.isRunning) {
      this.#child.kill(signal);
      // A frozen process receives no signal but SIGKILL.
      this.#child.kill('SIGCONT');
    }
    await this.#exited;
  }
}
