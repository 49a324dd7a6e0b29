import { beforeEach, describe, expect, it } from '@jest/globals';
import { Admission } from '../../lib/consumer/admission.js';
import { Slots } from '../../lib/consumer/slots.js';
import { ManualClock } from '../support/manual-clock.js';

describe('Admission', () => {
  let clock: ManualClock;
  let slots: Slots;

  beforeEach(() => {
    clock = new ManualClock();
    slots = new Slots(100, clock);
  });

  const loop = (loops: number, { batch = 1, limit = Infinity } = {}) =>
    new Admission({ shared: { slots, loops }, pace: { limit }, batch });

  const fill = (count: number) => slots.end(slots.lend(count), count);
  const vacate = (count: number) => {
    for (let i = 0; i < count; i++) slots.vacate();
  };

  /** Makes claims that take what there is, and ends the handling of their messages at once. */
  function limitsOf(admission: Admission, ready: readonly number[]): number[] {
    const limits: number[] = [];
    for (const count of ready) {
      const loan = admission.begin();
      limits.push(loan.count);
      vacate(admission.end(loan, Math.min(loan.count, count)));
    }
    return limits;
  }

  it('lets a loop that is alone ask for half of the slots, or 32, or a batch, or what can be started soon', () => {
    expect(limitsOf(loop(1), [0])).toEqual([50]);
    expect(limitsOf(loop(1, { limit: 7 }), [0])).toEqual([7]);
    expect(limitsOf(loop(1, { batch: 60 }), [0])).toEqual([60]);
    slots = new Slots(40, clock);
    expect(limitsOf(loop(1), [0])).toEqual([32]);
    slots = new Slots(8, clock);
    expect(limitsOf(loop(1), [0])).toEqual([8]);
  });

  it('lets a loop that shares the slots ask for twice what it last found, up to half of all', () => {
    const backlog = Array.from({ length: 8 }, () => 1000);
    expect(limitsOf(loop(2), backlog)).toEqual([2, 4, 8, 16, 32, 50, 50, 50]);
    expect(limitsOf(loop(2), [1, 1, 0, 5])).toEqual([2, 2, 2, 2]);
    expect(limitsOf(loop(2, { batch: 20 }), [1, 1000, 1000])).toEqual([20, 20, 40]);
    expect(limitsOf(loop(2, { limit: 3 }), backlog)).toEqual([2, 3, 3, 3, 3, 3, 3, 3]);
  });

  it('opens to a loop once its claim is worth the call, or none that is under way can make it so', async () => {
    const [first, second] = [loop(2), loop(2)];
    limitsOf(second, [1000, 1000, 1000, 1000]);
    fill(70);
    const loan = first.begin();
    expect(slots.free).toBe(28);
    expect([first.isOpen, second.isOpen, second.isFull]).toEqual([true, true, false]);
    vacate(3);
    expect(second.isOpen).toBe(false);
    const turn = second.awaitTurn();
    expect(first.isOpen).toBe(false);
    first.end(loan, 0);
    await turn;
    expect([first.isOpen, second.isOpen]).toEqual([false, true]);
    limitsOf(second, [0]);
    expect(first.isOpen).toBe(true);
  });

  it('ends a wait when it is closed, and leaves the line to others', async () => {
    const [first, second] = [loop(2), loop(2)];
    fill(100);
    const waits = [first.awaitTurn(), second.awaitTurn()];
    first.close();
    await waits[0];
    vacate(1);
    await waits[1];
    expect([first.isOpen, second.isOpen]).toEqual([false, true]);
  });

  it('ends a wait for any slot when it is closed', async () => {
    const admission = loop(2);
    fill(100);
    const wait = admission.awaitSlot();
    admission.close();
    await wait;
    expect(admission.isFull).toBe(true);
  });

  it('gives a loop whose claim was not answered in time one slot, until one is', async () => {
    const [hung, other] = [loop(2), loop(2)];
    limitsOf(hung, [1000, 1000, 1000, 1000, 1000, 1000]);
    const loan = hung.begin();
    fill(50);
    expect(other.isOpen).toBe(false);
    const turn = other.awaitTurn();
    await clock.advance(100);
    await turn;
    expect(other.isOpen).toBe(true);
    other.close();
    fill(20);
    expect(hung.end(loan, 50)).toBe(30);
    vacate(100);
    expect(limitsOf(hung, [1000, 1000, 1000])).toEqual([1, 2, 4]);
  });
});
