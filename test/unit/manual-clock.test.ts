import { describe, expect, it } from '@jest/globals';
import { MAX_TIMER_DELAY } from '../../lib/timing/clock.js';
import { ManualClock } from '../support/manual-clock.js';

describe('ManualClock', () => {
  it('fires timers in chronological order, each at its due time', async () => {
    const clock = new ManualClock();
    const fired: [name: string, at: number][] = [];
    const arm = (name: string, delay: number) => clock.schedule(() => fired.push([name, clock.monotonic()]), delay);
    arm('c', 30);
    arm('a', 10);
    arm('b', 10);
    const cancel = arm('never', 20);
    cancel();
    await clock.advance(29);
    expect(fired).toEqual([
      ['a', 10],
      ['b', 10],
    ]);
    await clock.advance(1);
    expect(fired.at(-1)).toEqual(['c', 30]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets promises settle between timers and fires the timers that they arm', async () => {
    const clock = new ManualClock();
    const reached: number[] = [];
    const walk = async () => {
      for (let step = 0; step < 3; step++) {
        await clock.sleep(10);
        reached.push(clock.monotonic());
      }
    };
    const walking = walk();
    await clock.advance(30);
    expect(reached).toEqual([10, 20, 30]);
    await walking;
  });

  it('fires timers late if they were due while the event loop was blocked', async () => {
    const clock = new ManualClock();
    const fired: number[] = [];
    clock.schedule(() => fired.push(clock.monotonic()), 10);
    clock.block(25);
    expect(fired).toEqual([]);
    await clock.advance(5);
    expect([fired, clock.monotonic()]).toEqual([[25], 30]);
  });

  it('sets the wall clock without affecting timers', async () => {
    const clock = new ManualClock(1000);
    let fired = false;
    clock.schedule(() => (fired = true), 10);
    clock.stepWall(-500);
    await clock.advance(9);
    expect([clock.wall(), clock.monotonic(), fired]).toEqual([509, 9, false]);
    await clock.advance(1);
    expect(fired).toBe(true);
  });

  it('rejects a delay that setTimeout would turn into zero', () => {
    const clock = new ManualClock();
    expect(() => clock.schedule(() => undefined, MAX_TIMER_DELAY + 1)).toThrow(RangeError);
    expect(() => clock.schedule(() => undefined, NaN)).toThrow(RangeError);
  });
});
