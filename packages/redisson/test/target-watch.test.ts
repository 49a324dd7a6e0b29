import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { WakeSignal } from '../../../lib/store/consumer-store.js';
import { TargetWatch } from '../src/target-watch.js';
import { Latch } from '../../../test/support/latch.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { LoggedEvents } from '../../../test/support/logged-events.js';

const BLOCK_TIMEOUT = 1000;

/** A wait for a non-empty list that the test answers. */
class ListWait implements Pick<WakeSignal, 'wait' | 'close'> {
  waits = 0;
  /** True if each wait ends at once. */
  closed = false;
  #answer: (filled: boolean) => void = () => undefined;

  wait(): Promise<boolean> {
    // Rather than hang.
    if (++this.waits > 100) throw new Error('There have been too many waits.');
    if (this.closed) return Promise.resolve(false);
    return new Promise((resolve) => (this.#answer = resolve));
  }

  answer(filled: boolean): void {
    this.#answer(filled);
  }

  close(): Promise<void> {
    this.#answer(false);
    return Promise.resolve();
  }
}

describe('watching the target list', () => {
  let clock: ManualClock;
  let list: ListWait;
  let watch: TargetWatch;
  let reported: number;
  let end: () => void;

  beforeEach(async () => {
    clock = new ManualClock();
    list = new ListWait();
    const options = { queue: 'orders', clock, events: new LoggedEvents(), blockTimeout: BLOCK_TIMEOUT };
    watch = new TargetWatch({ ...options, open: () => list });
    reported = 0;
    end = watch.watch(() => reported++);
    await clock.advance(0);
  });
  afterEach(() => end());

  const fill = async () => {
    list.answer(true);
    await clock.advance(0);
  };

  it('reports values from other processes', async () => {
    await fill();
    expect(reported).toBe(1);
  });

  it('does not report the values of a transfer in this process', async () => {
    watch.note(3);
    await fill();
    expect(reported).toBe(0);
  });

  it('waits for a running transfer before it decides whether values are new', async () => {
    const transfer = new Latch();
    void watch.whileMoving(() => transfer.opened);
    await fill();
    expect(reported).toBe(0);
    watch.note(1);
    transfer.open();
    await clock.advance(0);
    expect(reported).toBe(0);
  });

  it('does not report values transferred by this process that have since been claimed', async () => {
    watch.note(1);
    watch.note(0);
    await fill();
    expect(reported).toBe(0);
  });

  it('waits again once a claim has taken the transferred values, and reports later ones', async () => {
    watch.note(1);
    watch.note(0);
    await fill();
    expect(list.waits).toBe(2);
    await fill();
    expect(reported).toBe(1);
  });

  it('reports once, and waits again when the list is empty', async () => {
    await fill();
    watch.note(5);
    await clock.advance(0);
    expect([reported, list.waits]).toEqual([1, 1]);
    watch.note(0);
    await clock.advance(0);
    expect([reported, list.waits]).toEqual([1, 2]);
  });

  it('waits without keeping the process busy if its wake-up signal is closed', async () => {
    list.closed = true;
    list.answer(false);
    await clock.advance(1000);
    expect(list.waits).toBeGreaterThan(2);
    expect(list.waits).toBeLessThan(20);
  });

  it('keeps waiting while no values arrive, until it is stopped', async () => {
    await clock.advance(BLOCK_TIMEOUT);
    list.answer(false);
    await clock.advance(0);
    expect([reported, list.waits]).toEqual([0, 2]);
    end();
    await clock.advance(0);
    expect([reported, list.waits]).toEqual([0, 2]);
  });
});
