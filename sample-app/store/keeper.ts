import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// The program is the shell's child. It is told to end when the pipe ends, which is when this process has ended; and to go
// on, in case it was stopped.
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
  /** What tells it to end. */
  readonly signal: 'TERM' | 'KILL';
}

/**
 * Runs a program that lives as long as this process, however this process ends: even after a `kill -9` it is told to end.
 * As it ends last, it serves this process to the end.
 *
 * @returns the shell that keeps it, and exits when it does
 */
export function keepProcess(
  command: readonly [string, ...string[]],
  { env, stdout = 'ignore', signal }: KeepOptions,
): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'keeper', signal, ...command], {
    env,
    stdio: ['ignore', stdout, 'ignore', 'pipe'],
    // Ctrl-C in a terminal is for this process alone.
    detached: true,
  });
  shell.unref();
  (shell.stdio[3] as Socket).unref();
  (shell.stdout as Socket | null)?.unref();
  return shell;
}
