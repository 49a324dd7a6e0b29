import { type CancelTimer, type Clock, MAX_TIMER_DELAY } from '../../../lib/timing/clock.js';
import type { Chance } from './chance.js';
import { cancel, type World, type WorldEvent } from './world.js';

/** What is left of a time after conversions between clocks is not waited for, ms. */
const ROUNDING = 1e-6;

/** An application process: its own clock and chance. Once it is killed, nothing of it ever runs again. */
export class SimulatedProcess {
  isDead = false;
  readonly random: Chance;
  readonly clock: Clock;
  #suspendedUntil = -Infinity;
  /** Quartz drifts by some 50 ppm, and a time server slews clocks by up to 500. */
  readonly #rate: number;
  readonly #start: number;
  /** For how long its clock has stood still, ms. */
  #stoodStill = 0;
  /** Nothing of it runs before. */
  #busyUntil = -Infinity;
  /** The time by which the running code is ahead of the world, because it kept the event loop busy, ms. */
  #lead = 0;
  #leadAt = 0;
  readonly #onDeath = new Set<() => void>();
  /** For how long the handler that it starts next keeps the event loop busy, besides what it would do anyway, ms. */
  nextHandlerSpins = 0;

  /** Its name in the journal. */
  readonly name: string;

  /** @param number - no other process has it */
  constructor(
    readonly world: World,
    readonly number: number,
  ) {
    this.name = `p${number}`;
    this.random = world.chance(this.name);
    this.#rate = 1 + (this.random() - 0.5) / 1000;
    this.#start = Math.floor(this.random() * 1e6);
    const schedule = (task: () => void, delay: number, lateness: number): CancelTimer => {
      if (!(delay <= MAX_TIMER_DELAY)) throw new RangeError(`${delay} ms are more than one timer can wait`);
      const clockAt = this.clock.monotonic() + delay;
      const timer = world.at(this.#worldTimeOf(clockAt) + lateness, task, this, clockAt);
      return () => cancel(timer);
    };
    this.clock = {
      monotonic: () => this.#start + (this.now - this.#stoodStill) * this.#rate,
      wall: () => world.epoch + this.now,
      // As Node.js does it: whole milliseconds, and up to one more.
      schedule: (task, delay) => schedule(task, Math.max(1, Math.ceil(delay)), this.random()),
      schedulePunctually: (task, delay) => schedule(task, delay, this.random() / 8),
    };
  }

  /** The world's time, as far as this process has got. */
  get now(): number {
    return this.world.now + (this.#leadAt === this.world.now ? this.#lead : 0);
  }

  /** Nothing of it runs, or has run, before that. */
  get busyUntil(): number {
    return this.#busyUntil;
  }

  /** Until when it was, or is, last suspended with its clock, ms of the world. */
  get suspendedUntil(): number {
    return this.#suspendedUntil;
  }

  /** The code that is running keeps the event loop busy. */
  spend(ms: number): void {
    if (this.#leadAt !== this.world.now) this.#lead = 0;
    this.#leadAt = this.world.now;
    this.#lead += ms;
    this.#busyUntil = Math.max(this.#busyUntil, this.world.now + this.#lead);
  }

  /** Stops it while its clock goes on, as SIGSTOP does. */
  freeze(ms: number): void {
    this.#busyUntil = Math.max(this.#busyUntil, this.world.now + ms);
  }

  /** Stops it together with its clock, as a virtual machine that is moved. What it was busy with ends later by as much. */
  suspend(ms: number): void {
    const { now } = this.world;
    // Its clock stands still once, even if it is suspended again meanwhile: it never goes back.
    const since = Math.max(now, this.#suspendedUntil);
    const more = Math.max(0, now + ms - since);
    this.#busyUntil = Math.max(this.#busyUntil, since) + more;
    this.#stoodStill += more;
    this.#suspendedUntil = since + more;
  }

  kill(): void {
    this.isDead = true;
    for (const task of this.#onDeath) task();
    this.#onDeath.clear();
  }

  /** Calls a task when it is killed, unless the returned function is called before. */
  onDeath(task: () => void): () => void {
    this.#onDeath.add(task);
    return () => this.#onDeath.delete(task);
  }

  /** True if an event can take place now; otherwise it is put off. */
  isAwakeFor(event: WorldEvent): boolean {
    const { world } = this;
    const due = event.clockAt === undefined ? world.now : this.#worldTimeOf(event.clockAt);
    const at = Math.max(due, this.#busyUntil);
    if (at - world.now < ROUNDING) return true;
    world.postpone(event, at);
    return false;
  }

  #worldTimeOf(clockAt: number): number {
    return (clockAt - this.#start) / this.#rate + this.#stoodStill;
  }
}
