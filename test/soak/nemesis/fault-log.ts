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

  /** Opens a window; the returned function closes it. Open it before the deed. */
  open(kind: string, processes: FaultWindow['processes'], detail: string): () => void {
    const from = this.now();
    return () => this.add({ kind, from, to: this.now(), processes, detail, injected: true });
  }

  add(window: FaultWindow): void {
    this.#windows.push(window);
    appendFileSync(this.path, `${JSON.stringify(window)}\n`);
  }
}
