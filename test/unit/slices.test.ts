import { describe, expect, it } from '@jest/globals';
import { allInSlices, inSlices } from '../../lib/timing/event-loop.js';

const ITEMS = Array.from({ length: 100 }, (_, i) => i);

/** A clock that each item advances, and the number of items done in each turn of the event loop. */
function watchTurns(timeOfItem: number) {
  let now = 0;
  const turns: number[] = [0];
  let turning = true;
  const turn = () => {
    if (turns.at(-1)! > 0) turns.push(0);
    if (turning) setImmediate(turn);
  };
  setImmediate(turn);
  const work = () => {
    now += timeOfItem;
    turns[turns.length - 1]!++;
  };
  const end = () => {
    turning = false;
    return turns.filter((count) => count > 0);
  };
  return { clock: { monotonic: () => now }, work, end };
}

describe('work in slices', () => {
  it('yields to the event loop after three milliseconds of work, and processes every item', async () => {
    const { clock, work, end } = watchTurns(1);
    await inSlices(ITEMS, clock, work);
    expect(end()).toEqual([...Array.from({ length: 33 }, () => 3), 1]);
  });

  it('is done in one turn if it takes less than three milliseconds', () => {
    const { clock, work, end } = watchTurns(0.03);
    void inSlices(ITEMS, clock, work);
    expect(end()).toEqual([100]);
  });

  it('stops at the first error', async () => {
    const { clock, work, end } = watchTurns(1);
    const failing = inSlices(ITEMS, clock, (item) => {
      if (item === 25) throw new Error('no');
      work();
    });
    await expect(failing).rejects.toThrow('no');
    expect(end().reduce((sum, count) => sum + count)).toBe(25);
  });

  it('starts every item and fails if any of them fails', async () => {
    const { clock, work, end } = watchTurns(1);
    const begun = allInSlices(ITEMS, clock, (item) => {
      work();
      return item === 3 ? Promise.reject(new Error('no')) : Promise.resolve();
    });
    await expect(begun).rejects.toThrow('no');
    expect(end().reduce((sum, count) => sum + count)).toBe(100);
  });
});
