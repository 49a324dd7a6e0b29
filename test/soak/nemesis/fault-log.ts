import { appendFileSync } from 'node:fs';
import type { FaultWindow } from './fault-window.js';

/** Records when each fault began and when it was over. */
export class FaultLog {
  readonly #windows: FaultWindow[] = [];

  /** @param path - a file with one line of JSON for each window, written when it closes */
  constructor(
    private readonly path: string,
    private readonly now: () => number,
  ) {}

  get windows(): readonly FaultWindow[] {
    return this.#windows;
  }

  /** Opens a window; the returned function closes it. */
  open(what: Omit<FaultWindow, 'from' | 'to'>): () => void {
    const from = this.now();
    return () => this.add({ ...what, from, to: this.now() });
  }

  add(window: FaultWindow): void {
    this.#windows.push(window);
    appendFileSync(this.path, `${JSON.stringify(window)}\n`);
  }
}
