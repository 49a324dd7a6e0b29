import { spawn } from 'node:child_process';

// Reads the pid of the server that runs now, one a line, until this process is gone.
const SCRIPT = 'while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -9 "$pid"; [ -z "$1" ] || rm -rf "$1"';

/**
 * Ends a server and removes a folder when this process ends, however it ends: a shell outside of it waits for the end of
 * a pipe. Exit handlers would not run on a signal, nor inside of a jest worker.
 */
export class LastWill {
  readonly #shell;

  /** @param folder - what to remove; null: nothing */
  constructor(folder: string | null) {
    // Detached, so that Ctrl-C reaches this process but not its last will.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'last-will', folder ?? ''], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#shell.unref();
    (this.#shell.stdin as unknown as { unref(): void }).unref();
  }

  /** Names the server to end; null: it has ended. */
  name(pid: number | null): void {
    this.#shell.stdin.write(`${pid ?? ''}\n`);
  }

  /** Carries it out now. */
  async execute(): Promise<void> {
    const done = new Promise((resolve) => this.#shell.once('exit', resolve));
    this.#shell.ref();
    this.#shell.stdin.end();
    await done;
  }
}
