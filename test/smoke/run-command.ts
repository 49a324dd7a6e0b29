import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ENVIRONMENT } from '../support/run-program.js';

/** A command that takes longer is assumed to hang. */
const TIMEOUT = 480_000;

/** The options of a command. */
export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** ms. */
  readonly timeout?: number;
}

/**
 * Runs a command to its end and returns its standard output.
 *
 * @throws Error with all of its output if it fails or takes too long
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  { cwd, env, timeout = TIMEOUT }: CommandOptions,
): Promise<string> {
  const options = { cwd, env: { ...ENVIRONMENT, ...env }, timeout };
  const { stdout } = await promisify(execFile)(file, args, options).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error([error.message, error.stdout, error.stderr].join('\n'));
    },
  );
  return stdout;
}
