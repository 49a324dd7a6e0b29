import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { argumentsFor, ENVIRONMENT } from './run-program.js';

const MAIN = new URL('../../packages/cli/src/main.ts', import.meta.url);

/** How a run of the command line ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly output: string;
  readonly problems: string;
}

export interface CommandSettings {
  readonly url: string;
  readonly prefix: string;
}

/** Starts the command line as a process, without a terminal. */
export function startCommand({ url, prefix }: CommandSettings, words: readonly string[]) {
  const env = { ...ENVIRONMENT, REDIS_URL: url, NODE_NO_WARNINGS: '1' };
  const args = [...argumentsFor(MAIN), ...words, '--prefix', prefix];
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
}

/** Runs the command line to its end. */
export async function runCommand(settings: CommandSettings, ...words: readonly string[]): Promise<CommandResult> {
  const child = startCommand(settings, words);
  const [output, problems] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output, problems };
}

/** The lines of a program's output, each as JSON. */
export function jsonLines(output: string): unknown[] {
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}
