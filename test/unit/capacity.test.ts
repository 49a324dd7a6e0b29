import { beforeEach, describe, expect, it } from '@jest/globals';
import { Capacity, Slots } from '../../lib/consumer/capacity.js';
import { ManualClock } from '../support/manual-clock.js';

describe('Capacity', () => {
  let clock: ManualClock;
  let slots: Slots;

  beforeEach(() => {
    clock = new ManualClock();
    use(100, 2);
  });

  const use = (total: number, loops: number) => (slots = new Slots(total, loops));
  const loop = (batch = 1) => new Capacity({ slots, clock, batch });
  const fill = (count: number, capacity = loop()) => capacity.end(capacity.reserve(count), count);
  const vacate = (count: number) => {
    const capacity = loop();
    for (let i = 0; i < count; i++) capacity.vacate();
  };

  /** Makes claims that take what is ready, frees their slots at once, and returns their limits. */
  function limitsOf(capacity: Capacity, ready: readonly number[]): number[] {
    const limits: number[] = [];
    for (const count of ready) {
      const reservation = capacity.reserve();
      limits.push(reservation.count);
      vacate(capacity.end(reservation, Math.min(reservation.count, count)));
    }
    return limits;
  }

  /** A loop whose handlers were so slow that its claim limit is `limit`. */
  function slowLoop(limit: number): Capacity {
    const capacity = loop();
    capacity.measure(limit, 101);
    capacity.measure(limit, 100);
    return capacity;
  }

  /** Makes several loops wait, and records the order in which their waits end. */
  function waitAs(names: string): { readonly come: string[]; readonly loops: Capacity[] } {
    const come: string[] = [];
    const loops = [...names].map((name) => {
      const capacity = loop();
      void capacity.untilOpen().then(() => come.push(name));
      return capacity;
    });
    return { come, loops };
  }

  const settled = () => clock.advance(0);

  describe('the claim limit', () => {
    it('is the largest of half the slots, 32 and a batch for a single loop, capped by what is free and can start soon', () => {
      use(100, 1);
      expect(limitsOf(loop(), [0])).toEqual([50]);
      expect(limitsOf(slowLoop(7), [0])).toEqual([7]);
      expect(limitsOf(loop(60), [0])).toEqual([60]);
      use(40, 1);
      expect(limitsOf(loop(), [0])).toEqual([32]);
      use(8, 1);
      expect(limitsOf(loop(), [0])).toEqual([8]);
    });

    it('is twice what a loop with shared slots last found, up to half of all slots', () => {
      const backlog = Array.from({ length: 8 }, () => 1000);
      expect(limitsOf(loop(), backlog)).toEqual([2, 4, 8, 16, 32, 50, 50, 50]);
      expect(limitsOf(loop(), [1, 1, 0, 5])).toEqual([2, 2, 2, 2]);
      expect(limitsOf(loop(20), [1, 1000, 1000])).toEqual([20, 20, 40]);
      expect(limitsOf(slowLoop(3), backlog)).toEqual([2, 3, 3, 3, 3, 3, 3, 3]);
    });

    it('leaves half of the slots free if a transfer claims as well', () => {
      use(100, 1);
      const capacity = loop();
      expect(capacity.besidesTransfer(0)).toBe(50);
      fill(20);
      expect(capacity.besidesTransfer(0)).toBe(30);
      fill(30);
      expect(capacity.besidesTransfer(0)).toBeLessThan(1);
    });

    it('is half of the slots for all transfers in a row that claim as well', () => {
      use(100, 1);
      const capacity = loop();
      expect([0, 20, 49].map((taken) => capacity.besidesTransfer(taken))).toEqual([50, 30, 1]);
      expect(capacity.besidesTransfer(50)).toBeLessThan(1);
      fill(40);
      expect([0, 45].map((taken) => capacity.besidesTransfer(taken))).toEqual([10, 5]);
      use(7, 1);
      expect([0, 3].map((taken) => loop().besidesTransfer(taken))).toEqual([4, 1]);
    });

    it('drops to one slot after a response that arrives too late, and then doubles with each claim', async () => {
      const [hung, other] = [loop(), loop()];
      limitsOf(hung, [1000, 1000, 1000, 1000, 1000, 1000]);
      const reservation = hung.reserve();
      fill(50);
      expect(other.isOpen).toBe(false);
      const open = other.untilOpen();
      await clock.advance(100);
      await open;
      expect(other.isOpen).toBe(true);
      other.close();
      fill(20);
      expect(hung.end(reservation, 50)).toBe(30);
      vacate(100);
      expect(limitsOf(hung, [1000, 1000, 1000])).toEqual([1, 2, 4]);
    });
  });

  describe('the claim limit, adapted to how quickly handlers start', () => {
    beforeEach(() => void use(10_000, 1));

    const limitOf = (capacity: Capacity) => {
      const reservation = capacity.reserve();
      capacity.end(reservation, 0);
      return reservation.count;
    };

    it('is not reduced while handlers start quickly', () => {
      const capacity = loop();
      capacity.measure(500, 2);
      capacity.measure(1, 99);
      expect([limitOf(capacity), capacity.isQuick]).toEqual([1000, true]);
    });

    it('is the number of handlers that start within a tenth of a second', () => {
      const [one, fifty] = [loop(), loop()];
      one.measure(133, 10_000);
      fifty.measure(500, 1000);
      expect([limitOf(one), one.isQuick, limitOf(fifty), fifty.isQuick]).toEqual([1, false, 50, false]);
    });

    it('doubles with each claim whose handlers start quickly again', () => {
      const capacity = loop();
      capacity.measure(1, 5000);
      const limits = Array.from({ length: 4 }, () => {
        capacity.measure(limitOf(capacity), 1);
        return limitOf(capacity);
      });
      expect(limits).toEqual([2, 4, 8, 16]);
    });

    it('rises only as far as the measured starts allow', () => {
      const capacity = loop();
      capacity.measure(1, 5000);
      capacity.measure(1, 75);
      expect(limitOf(capacity)).toBe(1);
      capacity.measure(1, 40);
      capacity.measure(1, 40);
      expect(limitOf(capacity)).toBe(2);
    });
  });

  describe('the capacity while loops wait', () => {
    it('goes to them in order of arrival, and to no other loop in the meantime', async () => {
      use(2, 2);
      fill(2);
      const { come, loops } = waitAs('abc');
      vacate(2);
      await settled();
      expect(come).toEqual(['a']);
      expect(loop().isOpen).toBe(false);
      fill(1, loops[0]);
      await settled();
      expect(come).toEqual(['a', 'b']);
      fill(1, loops[1]);
      await settled();
      expect(come).toEqual(['a', 'b']);
      vacate(1);
      await settled();
      expect(come).toEqual(['a', 'b', 'c']);
    });

    it('goes to the next loop when a waiting one closes, before or after its turn', async () => {
      use(1, 2);
      fill(1);
      const { come, loops } = waitAs('abc');
      loops[1]!.close();
      vacate(1);
      await settled();
      expect(come).toEqual(['b', 'a']);
      loops[0]!.close();
      await settled();
      expect(come).toEqual(['b', 'a', 'c']);
    });

    it('ends a wait for an empty slot only once, as soon as there is one', async () => {
      use(1, 1);
      let times = 0;
      fill(1);
      void loop()
        .untilNotFull()
        .then(() => times++);
      await settled();
      expect(times).toBe(0);
      vacate(1);
      fill(1);
      vacate(1);
      await settled();
      expect(times).toBe(1);
      await loop().untilNotFull();
    });

    it('ends a wait for an empty slot when the loop closes', async () => {
      const capacity = loop();
      fill(100);
      const wait = capacity.untilNotFull();
      capacity.close();
      await wait;
      expect(capacity.isFull).toBe(true);
    });

    it('opens once the free slots are worth a claim, or no claim in progress can return more', async () => {
      const [first, second] = [loop(), loop()];
      limitsOf(second, [1000, 1000, 1000, 1000]);
      fill(70);
      const reservation = first.reserve();
      expect(slots.free).toBe(28);
      expect([first.isOpen, second.isOpen, second.isFull]).toEqual([true, true, false]);
      vacate(3);
      expect(second.isOpen).toBe(false);
      const open = second.untilOpen();
      expect(first.isOpen).toBe(false);
      first.end(reservation, 0);
      await open;
      expect([first.isOpen, second.isOpen]).toEqual([false, true]);
      limitsOf(second, [0]);
      expect(first.isOpen).toBe(true);
    });

    it('notifies a waiting loop if every slot has a message', () => {
      use(2, 2);
      fill(2);
      let times = 0;
      void loop().untilOpen(() => times++);
      expect(times).toBe(1);
    });
  });

  describe('the capacity reserved by a claim', () => {
    it('does not count as full until each slot has a message', () => {
      use(2, 1);
      const capacity = loop();
      const reservation = capacity.reserve(2);
      expect([slots.free, capacity.isFull]).toEqual([0, false]);
      capacity.end(reservation, 2);
      expect(capacity.isFull).toBe(true);
    });

    it('is returned when the claim ends, except for what the claim has used', async () => {
      use(10, 2);
      const { reserving, reservation } = reserve(6);
      let isOpen = false;
      void loop(8)
        .untilOpen()
        .then(() => (isOpen = true));
      await settled();
      expect([slots.free, isOpen]).toEqual([4, false]);
      expect(reserving.end(reservation, 2)).toBe(2);
      await settled();
      expect([slots.free, isOpen]).toEqual([8, true]);
    });

    it('is returned to a waiting loop once the claim takes too long', async () => {
      use(10, 2);
      const { reservation } = reserve(10);
      await clock.advance(60);
      const { come } = waitAs('a');
      await clock.advance(39);
      expect([slots.free, come, reservation.isOverdue]).toEqual([0, [], false]);
      await clock.advance(1);
      expect([slots.free, come, reservation.isOverdue]).toEqual([10, ['a'], true]);
    });

    it('is reduced to the slots that are still free if the answer is late', async () => {
      use(10, 2);
      const { reserving, reservation } = reserve(8);
      fill(2);
      const { loops } = waitAs('ab');
      loops[0]!.close();
      await clock.advance(100);
      fill(5, loops[1]);
      expect(reserving.end(reservation, 8)).toBe(3);
      expect(slots.free).toBe(0);
      vacate(10);
      expect(slots.free).toBe(slots.total);
    });

    it('is returned separately for each claim that takes too long', async () => {
      use(10, 2);
      reserve(4);
      await clock.advance(50);
      reserve(4);
      void loop(10).untilOpen();
      const noted: number[] = [];
      for (let i = 0; i < 3; i++) {
        noted.push(slots.free);
        await clock.advance(50);
      }
      expect(noted).toEqual([2, 6, 10]);
    });
  });

  function reserve(count: number) {
    const reserving = loop();
    return { reserving, reservation: reserving.reserve(count) };
  }
});
