import { openSync, writeSync } from 'node:fs';
import { watchForStalls } from './stall-watch.js';
import { type Entry, writeEntry } from './entries.js';

/**
 * The file in which one process writes what it does. A line that was written outlives the process, so each must be
 * written before what it tells of can be seen elsewhere: {@link append} resolves, and {@link flush} returns, when it is.
 * The lines of one turn of the event loop go together.
 */
export class Journal {
  readonly #file: number;
  readonly #epoch: number;
  readonly #shift: number;
  #lines = '';
  #written: Promise<void> | undefined;

  /**
   * @param epoch - from which all processes of a run count, ms since 1970
   * @param shift - how wrong the clock of this process is, ms
   */
  constructor(path: string, epoch: number, shift = 0) {
    this.#file = openSync(path, 'a');
    this.#epoch = epoch;
    this.#shift = shift;
  }

  now(): number {
    return Date.now() - this.#shift - this.#epoch;
  }

  /** The right time, ms since 1970, whatever the clock of this process says. */
  rightTime(): number {
    return this.now() + this.#epoch;
  }

  since(epochMilliseconds: number): number {
    return epochMilliseconds - this.#epoch;
  }

  /**
   * From now on writes down when this process stood still.
   *
   * @param blocked - for how long its own work made it, so far, ms
   */
  watchForStalls(blocked?: () => number): void {
    watchForStalls(
      () => this.now(),
      (from, at) => void this.append({ kind: 'stall', from, at }),
      blocked,
    );
  }

  append(entry: Entry): Promise<void> {
    this.#lines += writeEntry(entry);
    return (this.#written ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#written = undefined;
        this.flush();
        resolve();
      }),
    ));
  }

  flush(): void {
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
  }
}
