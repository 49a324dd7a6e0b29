import { appendFileSync } from 'node:fs';
import type { FaultWindow } from './fault-window.js';

/** Writes down every fault: when it began, and when it was over. */
export class FaultLog {
  readonly #windows: FaultWindow[] = [];

  /** @param path - a file of one JSON line each, written as soon as a window closes */
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
