import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Violation } from '../oracle/oracle.js';

/** What the simulation of one seed has seen. */
export interface Sight {
  readonly violation: Violation | undefined;
  /** Of its process, from its start. */
  readonly cpuSeconds: number;
}

/** What was seen of a bug. */
export interface Find {
  /** The seed that was simulated last. */
  readonly seed: number;
  /** Undefined: nothing. */
  readonly broken: { readonly promise: string; readonly detail: string } | undefined;
  /** Of CPU, over all seeds. */
  readonly seconds: number;
}

export interface Limits {
  /** Of each seed. */
  readonly messages: number;
  /** Of CPU, over all seeds: a busy machine finds as much as an idle one. The last seed may take more. */
  readonly seconds: number;
}

/** A simulation that takes so many times its limit does not get on, be the machine as busy as it may. */
const PATIENCE = 15;

/** Simulates seeds 1, 2, 3… of a tree, until a promise is broken or the time is over. */
export async function search(tree: string, limits: Limits): Promise<Find> {
  let seconds = 0;
  for (let seed = 1; ; seed++) {
    const sight = await look(tree, seed, limits);
    if (!('cpuSeconds' in sight)) return { seed, seconds, broken: sight };
    seconds += sight.cpuSeconds;
    const { violation } = sight;
    if (violation) {
      const { promise, id, detail } = violation;
      return { seed, seconds, broken: { promise, detail: `${id}: ${detail}` } };
    }
    if (seconds >= limits.seconds) return { seed, seconds, broken: undefined };
  }
}

/** Simulates one seed in a process of its own: what a process has simulated before may change what it simulates next. */
export async function look(
  tree: string,
  seed: number,
  { messages, seconds }: Limits,
): Promise<Sight | { readonly promise: string; readonly detail: string }> {
  const file = 'test/simulation/planted/look.ts';
  const flags = ['--disable-warning=ExperimentalWarning', '--import', '@swc-node/register/esm-register'];
  const child = spawn(process.execPath, [...flags, file, String(seed), String(messages)], { cwd: tree });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const isOver = new AbortController();
  void sleep(seconds * PATIENCE * 1000, undefined, { signal: isOver.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  const code = await ended;
  isOver.abort();
  if (code === 0) return JSON.parse(output) as Sight;
  if (code === null) return { promise: 'comes to an end', detail: 'the simulation does not get on' };
  const detail = errors.split('\n').find((line) => /^\w*Error/.test(line)) ?? errors.slice(0, 200);
  return { promise: 'does not crash', detail };
}
