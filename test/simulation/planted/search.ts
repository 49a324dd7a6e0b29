import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TYPESCRIPT } from '../../support/run-program.js';

export interface Broken {
  readonly promise: string;
  readonly detail: string;
}

/** The findings of the simulation of one seed. */
export interface Sight {
  /** Undefined: every promise is kept. */
  readonly broken: Broken | undefined;
  /** Of its process, from its start. */
  readonly cpuSeconds: number;
}

/** The findings about a bug. */
export interface Find {
  /** Undefined: nothing. */
  readonly broken: Broken | undefined;
  /** The one that was simulated last. */
  readonly seed: number;
  /** Of CPU, over all seeds. */
  readonly seconds: number;
}

export interface Limits {
  /** Of each seed. */
  readonly messages: number;
  /** Of CPU, over all seeds: a busy machine finds as much as an idle one. The last seed may take more. */
  readonly seconds: number;
}

/** A simulation that takes so many times its limit does not get on, however busy the machine is. */
const PATIENCE = 15;

/** In runs this short, most of what V8 optimizes costs more than it saves: without, they take a fifth less CPU. */
const NOT_OPTIMIZED = '--no-opt';

/** Simulates one seed: compiled or not. */
const PROGRAM = 'test/simulation/planted/look';

/**
 * Simulates seeds 1, 2, 3… of a tree, until a promise is broken or the time is over.
 *
 * @throws Error if the simulation does not run
 */
export async function search(tree: string, limits: Limits): Promise<Find> {
  let seconds = 0;
  for (let seed = 1; ; seed++) {
    const { broken, cpuSeconds } = await look(tree, seed, limits);
    seconds += cpuSeconds;
    if (broken || seconds >= limits.seconds) return { broken, seed, seconds };
  }
}

/**
 * Simulates one seed in a process of its own: what a process has simulated before may change what it simulates next.
 *
 * @throws Error if the simulation does not run
 */
export async function look(tree: string, seed: number, { messages, seconds }: Limits): Promise<Sight> {
  const program = existsSync(join(tree, `${PROGRAM}.js`)) ? [`${PROGRAM}.js`] : [...TYPESCRIPT, `${PROGRAM}.ts`];
  const child = spawn(process.execPath, [NOT_OPTIMIZED, ...program, String(seed), String(messages)], { cwd: tree });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * PATIENCE * 1000);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  if (code === 0) return JSON.parse(output) as Sight;
  if (code !== null) throw new Error(`The simulation does not run: ${errors}`);
  return { broken: { promise: 'gets on', detail: 'the simulation does not end' }, cpuSeconds: seconds };
}
