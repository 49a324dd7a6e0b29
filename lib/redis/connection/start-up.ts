/**
 * Whether the application has started. An open connection keeps the process alive, and Nest tells nobody that a start has failed,
 * because a hook of somebody else threw. So until the start is done, connections are only open while they are used.
 */
export class StartUp {
  #isDone = false;
  #listeners: (() => void)[] = [];

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Calls `listener` once the start is done. */
  onDone(listener: () => void): void {
    if (!this.#isDone) this.#listeners.push(listener);
  }

  done(): void {
    this.#isDone = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}
