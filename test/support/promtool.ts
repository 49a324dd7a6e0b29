import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { isExecutable } from './is-executable.js';
import { unpackPackage } from './redis/debian-package.js';

const NAME = 'promtool';
const PACKAGE = 'prometheus';

/** The tool of Prometheus that checks rules: the one on the PATH, or the one of Debian's package, which is not installed. */
export class Promtool {
  readonly #unpacked: string | undefined;
  readonly #path: string;

  /** @throws if it cannot be had here */
  constructor() {
    const folders = process.env.PATH?.split(delimiter) ?? [];
    const installed = folders.map((folder) => join(folder, NAME)).find(isExecutable);
    if (installed !== undefined) {
      this.#path = installed;
      return;
    }
    this.#unpacked = mkdtempSync(join(tmpdir(), 'promtool-'));
    unpackPackage(PACKAGE, this.#unpacked);
    this.#path = join(this.#unpacked, 'usr', 'bin', NAME);
  }

  /**
   * Runs it to its end.
   *
   * @throws Error with its output if it finds something wrong
   */
  async run(...args: readonly string[]): Promise<void> {
    await promisify(execFile)(this.#path, args).catch((error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error([error.message, error.stdout, error.stderr].join('\n'));
    });
  }

  remove(): void {
    if (this.#unpacked !== undefined) rmSync(this.#unpacked, { recursive: true });
  }
}
