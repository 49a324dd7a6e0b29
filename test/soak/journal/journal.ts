import { openSync, writeSync } from 'node:fs';
import { watchForStalls } from './stall-watch.js';
import { type Entry, writeEntry } from './entries.js';

/**
 * The file in which a process records what it does. A line outlives its process once it is written, so it must be written
 * before its event can be seen elsewhere: that is when {@link append} resolves and {@link flush} returns. The lines of one
 * turn of the event loop are written together.
 */
export class Journal {
  readonly #file: number;
  readonly #epoch: number;
  readonly #shift: number;
  #lines = '';
  #written: Promise<void> | undefined;

  /**
   * @param epoch - where all processes of a run start counting, ms since 1970
   * @param shift - how wrong this process' clock is, ms
   */
  constructor(path: string, epoch: number, shift = 0) {
    this.#file = openSync(path, 'a');
    this.#epoch = epoch;
    this.#shift = shift;
  }

  now(): number {
    return Date.now() - this.#shift - this.#epoch;
  }

  /** The right time, ms since 1970, whatever this process' clock says. */
  rightTime(): number {
    return this.now() + this.#epoch;
  }

  since(epochMilliseconds: number): number {
    return epochMilliseconds - this.#epoch;
  }

  /**
   * Records from now on when this process stalls.
   *
   * @param blocked - for how long its own work has blocked it so far, ms
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
