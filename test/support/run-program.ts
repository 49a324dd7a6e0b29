import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CompiledPrograms, compiledPath } from './compiled-programs.js';

/** The options with which Node.js runs a TypeScript file. */
export const TYPESCRIPT = ['--disable-warning=ExperimentalWarning', '--import', '@swc-node/register/esm-register'];

const VARIABLE = 'TEST_PROGRAMS';

/** Compiles what tests start as processes, once for all of them; returns what to call after the tests. */
export function setUpPrograms(): () => void {
  const programs = new CompiledPrograms();
  process.env[VARIABLE] = programs.folder;
  return () => programs.remove();
}

/** The folder of what the set-up of a test run has compiled. */
export function compiledFolder(): string {
  const folder = process.env[VARIABLE];
  if (folder === undefined)
    throw new Error('There are no compiled programs: tests run with the configuration of this folder.');
  return folder;
}

/** The arguments with which Node.js runs a TypeScript file: compiled by the set-up of a test run, else while it starts. */
export function argumentsFor(program: URL): string[] {
  const compiled = process.env[VARIABLE];
  return compiled === undefined ? [...TYPESCRIPT, fileURLToPath(program)] : [compiledPath(compiled, program)];
}

/** Jest's own options would not suit a process that is no test. */
export const ENVIRONMENT = { ...process.env, NODE_OPTIONS: '' };

/** A program that takes longer is killed. */
const TIMEOUT = 180_000;

/** Runs a program of this folder to its end, and reads the last line of its output as JSON. */
export async function runProgram<Result>(file: string, settings: unknown, ...nodeOptions: string[]): Promise<Result> {
  const args = [...nodeOptions, ...argumentsFor(new URL(file, import.meta.url)), JSON.stringify(settings)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: ENVIRONMENT, timeout: TIMEOUT });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Result;
}
