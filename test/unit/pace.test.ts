import { describe, expect, it } from '@jest/globals';
import { Pace } from '../../lib/consumer/pace.js';

describe('the pace of starts', () => {
  it('sets no limit while they are quick', () => {
    const pace = new Pace();
    pace.measure(500, 2);
    pace.measure(1, 99);
    expect([pace.limit, pace.isQuick]).toEqual([Infinity, true]);
  });

  it('limits claims to what is started in a tenth of a second, once one took longer', () => {
    const pace = new Pace();
    pace.measure(133, 10_000);
    expect([pace.limit, pace.isQuick]).toEqual([1, false]);
    const other = new Pace();
    other.measure(500, 1000);
    expect([other.limit, other.isQuick]).toEqual([50, false]);
  });

  it('allows twice as many at a time when they are quick again', () => {
    const pace = new Pace();
    pace.measure(1, 5000);
    const limits = Array.from({ length: 4 }, () => {
      pace.measure(pace.limit, 1);
      return pace.limit;
    });
    expect(limits).toEqual([2, 4, 8, 16]);
  });

  it('allows no more than the starts that were seen would allow', () => {
    const pace = new Pace();
    pace.measure(1, 5000);
    pace.measure(1, 75);
    expect(pace.limit).toBe(1);
    pace.measure(1, 40);
    pace.measure(1, 40);
    expect(pace.limit).toBe(2);
  });
});
