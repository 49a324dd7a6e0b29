import { beforeEach, describe, expect, it } from '@jest/globals';
import { Slots, type Turn } from '../../lib/consumer/slots.js';
import { ManualClock } from '../support/manual-clock.js';

describe('Slots', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
  });

  const fill = (slots: Slots, count: number, turn?: Turn) => slots.end(slots.lend(count, turn), count);
  const vacate = (slots: Slots, count: number) => {
    for (let i = 0; i < count; i++) slots.vacate();
  };

  const nothing = () => undefined;

  it('are for those that wait in the order in which they came, and for nobody else meanwhile', () => {
    const slots = new Slots(2, clock);
    const come: string[] = [];
    fill(slots, 2);
    const [a, b] = ['a', 'b', 'c'].map((name) => slots.waitFor(1, () => come.push(name)));
    vacate(slots, 2);
    expect(come).toEqual(['a']);
    expect(slots.areOpenFor(1)).toBe(false);
    fill(slots, 1, a);
    expect(come).toEqual(['a', 'b']);
    fill(slots, 1, b);
    expect(come).toEqual(['a', 'b']);
    vacate(slots, 1);
    expect(come).toEqual(['a', 'b', 'c']);
  });

  it('are for the next one when a turn is given up, before or after it came', () => {
    const slots = new Slots(1, clock);
    const come: string[] = [];
    fill(slots, 1);
    const [a, b] = ['a', 'b', 'c'].map((name) => slots.waitFor(1, () => come.push(name)));
    slots.leave(b!);
    vacate(slots, 1);
    expect(come).toEqual(['a']);
    slots.leave(a!);
    expect(come).toEqual(['a', 'c']);
  });

  it('tell once when they are not full any more', () => {
    const slots = new Slots(1, clock);
    let tellings = 0;
    fill(slots, 1);
    slots.whenNotFull(() => void tellings++);
    expect(tellings).toBe(0);
    vacate(slots, 1);
    fill(slots, 1);
    vacate(slots, 1);
    expect(tellings).toBe(1);
    slots.whenNotFull(() => void tellings++);
    expect(tellings).toBe(2);
  });

  it('come back from a claim that did not fill them', () => {
    const slots = new Slots(10, clock);
    let come = 0;
    const loan = slots.lend(6);
    slots.waitFor(8, () => come++);
    expect({ free: slots.free, come }).toEqual({ free: 4, come: 0 });
    expect(slots.end(loan, 2)).toBe(2);
    expect({ free: slots.free, come }).toEqual({ free: 8, come: 1 });
  });

  it('are open for a claim that is worth it, or that no other claim could make worth it', () => {
    const slots = new Slots(10, clock);
    const loan = slots.lend(7);
    expect([3, 4, 10, 11].map((count) => slots.areOpenFor(count))).toEqual([true, false, false, true]);
    slots.end(loan, 7);
    expect(slots.areOpenFor(4)).toBe(true);
    fill(slots, 3);
    expect(slots.areOpenFor(1)).toBe(false);
  });

  it('are full when each has a message, and not while a claim may return some', () => {
    const slots = new Slots(2, clock);
    const loan = slots.lend(2);
    expect(slots.areFull).toBe(false);
    slots.end(loan, 2);
    expect(slots.areFull).toBe(true);
  });

  it('come back from a claim that takes too long, when somebody waits for them', async () => {
    const slots = new Slots(10, clock);
    let come = 0;
    const loan = slots.lend(10);
    await clock.advance(60);
    slots.waitFor(5, () => come++);
    await clock.advance(39);
    expect({ free: slots.free, come, isOverdue: loan.isOverdue }).toEqual({ free: 0, come: 0, isOverdue: false });
    await clock.advance(1);
    expect({ free: slots.free, come, isOverdue: loan.isOverdue }).toEqual({ free: 10, come: 1, isOverdue: true });
  });

  it('go to the messages of a late answer only as far as some are left', async () => {
    const slots = new Slots(10, clock);
    const late = slots.lend(8);
    slots.leave(slots.waitFor(8, nothing));
    const turn = slots.waitFor(8, nothing);
    await clock.advance(100);
    fill(slots, 7, turn);
    expect(slots.end(late, 8)).toBe(3);
    expect(slots.free).toBe(0);
    vacate(slots, 10);
    expect(slots.free).toBe(slots.total);
  });

  it('come back from each claim when it takes too long, and not before', async () => {
    const slots = new Slots(10, clock);
    slots.lend(4);
    await clock.advance(50);
    slots.lend(4);
    slots.waitFor(10, nothing);
    const noted: number[] = [];
    for (let i = 0; i < 3; i++) {
      noted.push(slots.free);
      await clock.advance(50);
    }
    expect(noted).toEqual([2, 6, 10]);
  });
});
