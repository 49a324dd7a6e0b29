import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// The server is the shell's child. It is told to end when the pipe ends, which is when this process has ended.
const SCRIPT = `
"$@" 3<&- & server=$!
{ read -r _ <&3; kill "$server"; } 2>/dev/null & watch=$!
wait "$server"; status=$?
kill "$watch" 2>/dev/null
exit "$status"`;

/**
 * Runs a server that lives as long as this process, however this process ends: even after a `kill -9` the server is shut
 * down in order. As it ends last, it serves this process to the end.
 *
 * @returns the shell that keeps the server, and exits when the server does
 */
export function keepServer(command: readonly [string, ...string[]]): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'keeper', ...command], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    // Ctrl-C in a terminal is for this process alone.
    detached: true,
  });
  shell.unref();
  (shell.stdio[3] as Socket).unref();
  return shell;
}
