import { beforeEach, describe, expect, it } from '@jest/globals';
import { Slots, type Turn } from '../../lib/delivery/consumer/slots.js';
import { ManualClock } from '../support/manual-clock.js';

describe('Slots', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
  });

  const fill = (slots: Slots, count: number) => slots.lend(count).end(count);

  /** Waits in line, and notes when the turn comes. */
  function waitFor(slots: Slots, count: number, come: () => void): Turn {
    const turn = slots.waitFor(count);
    void turn.comes.then(come);
    return turn;
  }
  const settle = () => clock.advance(0);

  it('are for those that wait in the order in which they came, and for nobody else meanwhile', async () => {
    const slots = new Slots(2, clock);
    const come: string[] = [];
    fill(slots, 2);
    const [a, b] = ['a', 'b', 'c'].map((name) => waitFor(slots, 1, () => come.push(name)));
    slots.giveBack(2);
    await settle();
    expect(come).toEqual(['a']);
    expect(slots.areOpenFor(1)).toBe(false);
    slots.lend(1, a).end(1);
    await settle();
    expect(come).toEqual(['a', 'b']);
    slots.lend(1, b).end(1);
    await settle();
    expect(come).toEqual(['a', 'b']);
    slots.giveBack(1);
    await settle();
    expect(come).toEqual(['a', 'b', 'c']);
  });

  it('are for the next one when a turn is given up, before or after it came', async () => {
    const slots = new Slots(1, clock);
    const come: string[] = [];
    fill(slots, 1);
    const [a, b] = ['a', 'b', 'c'].map((name) => waitFor(slots, 1, () => come.push(name)));
    b!.leave();
    slots.giveBack(1);
    await settle();
    expect(come).toEqual(['a']);
    a!.leave();
    await settle();
    expect(come).toEqual(['a', 'c']);
  });

  it('tell once when they are not full any more', () => {
    const slots = new Slots(1, clock);
    let tellings = 0;
    fill(slots, 1);
    slots.whenNotFull(() => void tellings++);
    expect(tellings).toBe(0);
    slots.giveBack(1);
    fill(slots, 1);
    slots.giveBack(1);
    expect(tellings).toBe(1);
    slots.whenNotFull(() => void tellings++);
    expect(tellings).toBe(2);
  });

  it('come back from a claim that did not fill them', async () => {
    const slots = new Slots(10, clock);
    let come = 0;
    const loan = slots.lend(6);
    waitFor(slots, 8, () => come++);
    await settle();
    expect({ free: slots.free, come }).toEqual({ free: 4, come: 0 });
    expect(loan.end(2)).toBe(2);
    await settle();
    expect({ free: slots.free, come }).toEqual({ free: 8, come: 1 });
  });

  it('are open for a claim that is worth it, or that no other claim could make worth it', () => {
    const slots = new Slots(10, clock);
    const loan = slots.lend(7);
    expect([3, 4, 10, 11].map((count) => slots.areOpenFor(count))).toEqual([true, false, false, true]);
    loan.end(7);
    expect(slots.areOpenFor(4)).toBe(true);
    fill(slots, 3);
    expect(slots.areOpenFor(1)).toBe(false);
  });

  it('are full when each has a message, and not while a claim may return some', () => {
    const slots = new Slots(2, clock);
    const loan = slots.lend(2);
    expect(slots.areFull).toBe(false);
    loan.end(2);
    expect(slots.areFull).toBe(true);
  });

  it('come back from a claim that takes too long, when somebody waits for them', async () => {
    const slots = new Slots(10, clock);
    let come = 0;
    const loan = slots.lend(10);
    await clock.advance(60);
    waitFor(slots, 5, () => come++);
    await clock.advance(39);
    expect({ free: slots.free, come, isOverdue: loan.isOverdue }).toEqual({ free: 0, come: 0, isOverdue: false });
    await clock.advance(1);
    expect({ free: slots.free, come, isOverdue: loan.isOverdue }).toEqual({ free: 10, come: 1, isOverdue: true });
  });

  it('go to the messages of a late answer only as far as some are left', async () => {
    const slots = new Slots(10, clock);
    const late = slots.lend(8);
    slots.waitFor(8).leave();
    const turn = slots.waitFor(8);
    await clock.advance(100);
    slots.lend(7, turn).end(7);
    expect(late.end(8)).toBe(3);
    expect(slots.free).toBe(0);
    slots.giveBack(10);
    expect(slots.free).toBe(slots.total);
  });

  it('come back from each claim when it takes too long, and not before', async () => {
    const slots = new Slots(10, clock);
    slots.lend(4);
    await clock.advance(50);
    slots.lend(4);
    slots.waitFor(10);
    const noted: number[] = [];
    for (let i = 0; i < 3; i++) {
      noted.push(slots.free);
      await clock.advance(50);
    }
    expect(noted).toEqual([2, 6, 10]);
  });
});
