import { setImmediate } from '../timing/event-loop.js';
import type { ResolvedBounds } from './call-bounds.js';
import { Patience } from './patience.js';
import { closed, type Described, notAdmitted, overlapping, unended } from './problems.js';
import { sleep } from './real-time.js';
import type { TestBench } from './test-bench.js';
import type { WatchedStore } from './watched-store.js';

/** What was offered and not awaited, or offered by a handler that is done, reaches its store within so many turns. */
const QUIET_TURNS = 2;

/** Most handlers are done within so many turns of the event loop. Those that wait for the world outside get a pause after each. */
const QUICK_TURNS = 20;

/** How often is looked whether a handler that takes its time is done, ms. */
const PAUSE = 1;

/** A call that moves time. */
interface Call extends ResolvedBounds {
  /** As the test calls it. */
  readonly name: string;
  /** How many attempts had ended before it. */
  readonly settledBefore: number;
}

/**
 * Moves the time of an application: from one due message to the next, and never while a handler runs.
 *
 * Between two of these instants there is nothing to see, so time leaps. Timers that would have fired meanwhile fire late, as in a
 * process that was blocked: a look at the queue every minute costs one look, however long the leap.
 */
export class TimeMachine {
  readonly #bench: TestBench;
  readonly #describe: (store: WatchedStore) => Described;
  /** The call that is under way. */
  #underWay: string | undefined;

  /** @param describe - tells of the message that a queue is busy with, else of the one that is due next */
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

  /**
   * Runs one call at a time: two that move time would take it from each other.
   *
   * @throws DelayQueueError `UNFINISHED` if another one is under way
   */
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

  /** What is due and still delayed waits for a timer. */
  #leap(dueAt: number, end: number): void {
    const { clock } = this.#bench;
    const wait = dueAt > clock.wall() ? dueAt - clock.wall() : clock.nextTimerIn;
    clock.moveBy(Math.min(wait, end - clock.wall()));
  }

  /** Whether a call may go on to the next message. */
  #admit(store: WatchedStore, call: Call): void {
    if (this.#bench.isClosing) throw closed(call.name);
    if (this.#bench.settled - call.settledBefore >= call.limit) throw notAdmitted(call, this.#describe(store));
  }

  /** Until no handler runs, and none is about to. */
  async #settle(call: Call): Promise<void> {
    const patience = new Patience(call.patience);
    let { settled } = this.#bench;
    for (let turns = 0, quiet = 0; quiet < QUIET_TURNS; turns++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const busy = this.#bench.findBusy();
      quiet = busy ? 0 : quiet + 1;
      if (!busy || turns < QUICK_TURNS) continue;
      // It claims nothing more, and what it claimed goes back.
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
