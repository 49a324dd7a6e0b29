import { setImmediate } from '../timing/event-loop.js';
import type { ResolvedBounds } from './call-bounds.js';
import { Patience } from './patience.js';
import { closed, type Described, notAdmitted, overlapping, unended } from './problems.js';
import { sleep } from './real-time.js';
import type { TestBench } from './test-bench.js';
import type { WatchedStore } from './watched-store.js';

/** The number of event-loop turns within which an unawaited offer, or one made by a finished handler, reaches its store. */
const QUIET_TURNS = 2;

/** The number of turns within which most handlers end. After that, a pause follows each turn, for handlers that wait for real I/O. */
const QUICK_TURNS = 20;

/** The pause between two checks on a slow handler, ms. */
const PAUSE = 1;

interface Call extends ResolvedBounds {
  readonly name: string;
  readonly settledBefore: number;
}

/**
 * Moves an application's time from one due message to the next, but never while a handler runs.
 *
 * Nothing happens between two due messages, so time leaps. Timers that would have fired in between fire late, as in a process that was
 * blocked: a check that runs every minute runs only once, however long the leap.
 */
export class TimeMachine {
  readonly #bench: TestBench;
  readonly #describe: (store: WatchedStore) => Described;
  #underWay: string | undefined;

  /** @param describe - describes the message that a queue is busy with, or else its next due message */
  constructor(bench: TestBench, describe: (store: WatchedStore) => Described) {
    this.#bench = bench;
    this.#describe = describe;
  }

  advance(ms: number, bounds: ResolvedBounds): Promise<void> {
    return this.#run('advance()', bounds, (call) => this.#moveBy(ms, call));
  }

  drain(bounds: ResolvedBounds): Promise<void> {
    return this.#run('drain()', bounds, async (call) => {
      await this.#settle(call);
      for (let next = this.#bench.findNextDue(); next; next = this.#bench.findNextDue()) {
        await this.#moveBy(Math.max(0, next.dueAt - this.#bench.clock.wall()), call);
      }
    });
  }

  /** Runs one call at a time. Throws `UNFINISHED` if another one is running. */
  async exclusively(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#underWay !== undefined) throw overlapping(name, this.#underWay);
    this.#underWay = name;
    try {
      await work();
    } finally {
      this.#underWay = undefined;
    }
  }

  #run(name: string, bounds: ResolvedBounds, work: (call: Call) => Promise<void>): Promise<void> {
    return this.exclusively(name, () => work({ name, settledBefore: this.#bench.settled, ...bounds }));
  }

  async #moveBy(ms: number, call: Call): Promise<void> {
    const { clock } = this.#bench;
    const end = clock.wall() + ms;
    await this.#settle(call);
    for (;;) {
      const next = this.#bench.findNextDue();
      if (next && next.dueAt <= end) this.#admit(next.store, call);
      if (clock.fireNext()) await this.#settle(call);
      else if (clock.wall() < end) this.#leap(next?.dueAt ?? Infinity, end);
      else return;
    }
  }

  /** Moves time to the next due time, at most to `end`. If a message is already due but still delayed, moves to the next timer. */
  #leap(dueAt: number, end: number): void {
    const { clock } = this.#bench;
    const wait = dueAt > clock.wall() ? dueAt - clock.wall() : clock.nextTimerIn;
    clock.moveBy(Math.min(wait, end - clock.wall()));
  }

  /** Throws unless a call may go on to the next message. */
  #admit(store: WatchedStore, call: Call): void {
    if (this.#bench.isClosing) throw closed(call.name);
    if (this.#bench.settled - call.settledBefore >= call.limit) throw notAdmitted(call, this.#describe(store));
  }

  /** Waits until no handler runs or is about to run. */
  async #settle(call: Call): Promise<void> {
    const patience = new Patience(call.patience);
    let { settled } = this.#bench;
    for (let turns = 0, quiet = 0; quiet < QUIET_TURNS; turns++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const busy = this.#bench.findBusy();
      quiet = busy ? 0 : quiet + 1;
      if (!busy || turns < QUICK_TURNS) continue;
      // A closing application claims nothing more and releases what it has claimed, so waiting longer is no use.
      if (this.#bench.isClosing && busy.glance().counts.active === 0) throw closed(call.name);
      if (this.#bench.settled !== settled) {
        ({ settled } = this.#bench);
        patience.restart();
      }
      if (patience.look()) this.#giveUp(busy, call);
      await sleep(PAUSE);
    }
  }

  #giveUp(store: WatchedStore, call: Call): never {
    this.#bench.giveUp();
    throw unended(call, this.#describe(store));
  }
}
