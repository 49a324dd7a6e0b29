import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { argumentsFor, ENVIRONMENT } from '../../support/run-program.js';
import { type Narration, PARENT, type RunMessage, type RunOrder, type RunReport } from './run-order.js';

const PROGRAM = new URL('run.program.ts', import.meta.url);

/** How a run ended: with a report, or without one. */
export type RunOutcome = RunReport | RunFailure;

/** A run that came to no end. */
export interface RunFailure {
  readonly kind: 'crashed' | 'hung';
  /** How far it had got, ms of the world. */
  readonly virtualTime: number;
  /** The end of its output to standard error. */
  readonly detail: string;
}

export const isFailure = (outcome: RunOutcome): outcome is RunFailure => 'kind' in outcome;

export interface RunSettings {
  readonly narration?: Narration | undefined;
  /** Called with what the narration prints. */
  readonly onText?: (text: string) => void;
  readonly onProgress?: (progress: Extract<RunMessage, { kind: 'progress' }>) => void;
  /** Ends the run. */
  readonly signal?: AbortSignal;
  /** The time for which virtual time may stand still, ms of real time. */
  readonly patience?: number;
}

/** On a busy machine, a process that others go before may take minutes to start. */
const PATIENCE = 600_000;

/** Most objects of a run die young, and the default of 16 MB collects them too often. A run collects all before it tells what it holds. */
const MEMORY = ['--max-semi-space-size=32', '--expose-gc'];

/** The length of the standard error of a run that is kept, characters. */
const MAX_DETAIL = 4000;

/** Runs a simulation in a process of its own, and watches over it: no event loop turns there before it is over. */
export function runInProcess(order: RunOrder, settings: RunSettings = {}): Promise<RunOutcome> {
  const { narration, onText, onProgress, signal, patience = PATIENCE } = settings;
  const args = [JSON.stringify(order), ...(narration ? [JSON.stringify(narration)] : [])];
  // Options such as --cpu-prof are meant for the run.
  const options = process.execArgv.filter((option) => /^--(cpu|heap)-prof/.test(option));
  const child = spawn(process.execPath, [...MEMORY, ...options, ...argumentsFor(PROGRAM), ...args], {
    ...{ env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' },
  }) as ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
  return new Promise((resolve, reject) => {
    let report: RunReport | undefined;
    let virtualTime = 0;
    let detail = '';
    let hasHung = false;
    const watchdog = setTimeout(() => {
      hasHung = true;
      child.kill('SIGKILL');
    }, patience);
    createInterface({ input: child.stdio[PARENT] as Readable }).on('line', (line) => {
      const message = JSON.parse(line) as RunMessage;
      if (message.kind === 'report') return void (report = message.report);
      onProgress?.(message);
      if (message.virtualTime > virtualTime) watchdog.refresh();
      virtualTime = message.virtualTime;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => onText?.(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      detail = (detail + text).slice(-MAX_DETAIL);
    });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      clearTimeout(watchdog);
      if (report) return resolve(report);
      const end = killedBy ?? `code ${code}`;
      if (hasHung) detail = `Virtual time stood still for ${patience / 1000} s.\n${detail}`;
      resolve({ kind: hasHung ? 'hung' : 'crashed', virtualTime, detail: detail.trim() || `It ended with ${end}.` });
    });
  });
}
