import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What slows bytes down. */
export interface Drag {
  /** The delay of the bytes, ms. */
  readonly delay: number;
  /** The number of bytes per second; Infinity: no limit. */
  readonly bandwidth: number;
}

/** One direction of a connection: bytes arrive in order, each chunk when the line is free for it, and after its delay. */
export class DelayLine {
  #underWay = 0;
  #last: Promise<void> = Promise.resolve();
  /** The time at which all that was sent has passed the line, on the monotonic clock. */
  #freeAt = 0;

  constructor(private readonly target: Socket) {}

  send(bytes: Buffer, { delay, bandwidth }: Drag): void {
    this.#freeAt = Math.max(performance.now(), this.#freeAt) + (bytes.length / bandwidth) * 1000;
    // Nothing in front of it, so it cannot overtake.
    if (delay === 0 && bandwidth === Infinity && this.#underWay === 0) this.#write(bytes);
    else {
      this.#underWay++;
      this.#last = this.#deliver(bytes, this.#freeAt + delay, this.#last);
    }
  }

  async #deliver(bytes: Buffer, at: number, before: Promise<void>): Promise<void> {
    await before;
    const rest = at - performance.now();
    // A sleep of no time takes a millisecond, and what was sent at once would arrive in single file.
    if (rest > 0) await sleep(rest, undefined, { ref: false });
    this.#underWay--;
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    if (this.target.writable) this.target.write(bytes);
  }
}
