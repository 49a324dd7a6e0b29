import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// The program is a child of the shell. When the pipe closes because this process has ended, the shell tells the program to
// end, and to continue in case it was stopped.
const SCRIPT = `
signal=$1; shift
"$@" 3<&- & program=$!
{ read -r _ <&3; kill -s "$signal" "$program"; kill -s CONT "$program"; } >/dev/null 2>&1 & watch=$!
wait "$program"; status=$?
kill "$watch" 2>/dev/null
exit "$status"`;

export interface KeepOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdout?: 'ignore' | 'pipe';
  /** The signal that tells it to end. */
  readonly signal: 'TERM' | 'KILL';
}

/**
 * Runs a program that lives as long as this process. However this process ends, even by `kill -9`, the program is told to end
 * afterwards, so it serves this process until the end.
 *
 * @returns the shell that keeps the program, and exits when it does
 */
export function keepProcess(
  command: readonly [string, ...string[]],
  { env, stdout = 'ignore', signal }: KeepOptions,
): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'keeper', signal, ...command], {
    env,
    stdio: ['ignore', stdout, 'ignore', 'pipe'],
    // Ctrl-C in a terminal must reach this process alone.
    detached: true,
  });
  shell.unref();
  (shell.stdio[3] as Socket).unref();
  (shell.stdout as Socket | null)?.unref();
  return shell;
}
