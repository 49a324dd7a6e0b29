import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What Node.js needs to run a TypeScript file as it is. */
export const TYPESCRIPT = ['--disable-warning=ExperimentalWarning', '--import', '@swc-node/register/esm-register'];

/** Jest's own options would not suit a process that is no test. */
export const ENVIRONMENT = { ...process.env, NODE_OPTIONS: '' };

/** A program that takes longer is killed. */
const TIMEOUT = 180_000;

/** Runs a program of this folder to its end, and reads the last line of its output as JSON. */
export async function runProgram<Result>(file: string, settings: unknown, ...nodeOptions: string[]): Promise<Result> {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const args = [...nodeOptions, ...TYPESCRIPT, program, JSON.stringify(settings)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: ENVIRONMENT, timeout: TIMEOUT });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Result;
}
