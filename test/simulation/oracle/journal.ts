import type { World } from '../world/world.js';

/** What has happened, as a digest. Whoever wants to read it gives it a way to write. */
export class Journal {
  /** Takes a line; one about a message begins with its id and a space. Undefined: nobody reads it. */
  readonly write: ((line: string) => void) | undefined;
  #high = 0x811c9dc5;
  #low = 0x01000193;

  constructor(private readonly world: World) {}

  /** Makes the digest depend on something, and on when and where it has happened. */
  digestOf(what: number, detail: number): void {
    const { now, events, current } = this.world;
    this.#mix(what);
    this.#mix(detail);
    this.#mix(events);
    this.#mix(Math.floor(now * 4096));
    if (current) this.#mix(current.number);
  }

  get digest(): string {
    const hex = (part: number) => (part >>> 0).toString(16).padStart(8, '0');
    return hex(this.#high) + hex(this.#low);
  }

  #mix(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0x01000193) + 0x7f4a7c15;
    this.#high = Math.imul(this.#high ^ (this.#low >>> 7) ^ value, 0x85ebca6b);
  }
}
