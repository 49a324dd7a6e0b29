/** A wait that can be ended early. A call of `wake` while nobody waits ends the next wait at once. */
export class WakeUp {
  #isAwake = false;
  #wake: (() => void) | undefined;

  wake(): void {
    this.#isAwake = true;
    this.#wake?.();
  }

  /** Waits for `wake`, at most so many ms. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#isAwake = false;
  }
}
