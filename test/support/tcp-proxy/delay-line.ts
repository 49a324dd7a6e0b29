import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One direction of a connection: bytes arrive in order, each chunk after its delay. */
export class DelayLine {
  #underWay = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly target: Socket) {}

  send(bytes: Buffer, delay: number): void {
    // Nothing in front of it, so it cannot overtake.
    if (delay === 0 && this.#underWay === 0) this.#write(bytes);
    else {
      this.#underWay++;
      this.#last = this.#deliver(bytes, performance.now() + delay, this.#last);
    }
  }

  async #deliver(bytes: Buffer, at: number, before: Promise<void>): Promise<void> {
    await before;
    await sleep(Math.max(0, at - performance.now()), undefined, { ref: false });
    this.#underWay--;
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    if (this.target.writable) this.target.write(bytes);
  }
}
