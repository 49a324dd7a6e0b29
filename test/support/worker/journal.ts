import { writeSync } from 'node:fs';
import type { Entry } from './worker-settings.js';

/** Writes what happens to the standard output: the lines of one turn of the event loop together, before anything else. */
export class Journal {
  #lines = '';

  write(entry: Entry): void {
    if (this.#lines === '') setImmediate(() => this.flush());
    this.#lines += `${JSON.stringify(entry)}\n`;
  }

  /** Writes now, for one who is about to die. */
  flush(): void {
    const lines = Buffer.from(this.#lines);
    this.#lines = '';
    for (let written = 0; written < lines.length;) written += writeSync(1, lines, written);
  }
}
