/** A gate that is opened once: `await latch.opened` on one side, `latch.open()` on the other. */
export class Latch {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}
