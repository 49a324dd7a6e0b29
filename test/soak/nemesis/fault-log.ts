import { appendFileSync } from 'node:fs';
import type { FaultWindow, Span } from './fault-window.js';

/** Closes a window. `forgotten`: when Redis acknowledged what it may have forgotten because of the fault. */
export type CloseWindow = (forgotten?: readonly Span[]) => void;

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
  open(what: Omit<FaultWindow, 'from' | 'to' | 'forgotten'>): CloseWindow {
    const from = this.now();
    return (forgotten = []) => this.add({ ...what, from, to: this.now(), forgotten });
  }

  add(window: FaultWindow): void {
    this.#windows.push(window);
    appendFileSync(this.path, `${JSON.stringify(window)}\n`);
  }
}
