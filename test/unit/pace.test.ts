import { describe, expect, it } from '@jest/globals';
import { Pace } from '../../lib/consumer/pace.js';

describe('Pace', () => {
  it('sets no limit while handlers start quickly', () => {
    const pace = new Pace();
    pace.measure(500, 2);
    pace.measure(1, 99);
    expect([pace.limit, pace.isQuick]).toEqual([Infinity, true]);
  });

  it('limits claims to what starts within a tenth of a second once starts are slow', () => {
    const pace = new Pace();
    pace.measure(133, 10_000);
    expect([pace.limit, pace.isQuick]).toEqual([1, false]);
    const other = new Pace();
    other.measure(500, 1000);
    expect([other.limit, other.isQuick]).toEqual([50, false]);
  });

  it('doubles the limit with each claim that starts quickly again', () => {
    const pace = new Pace();
    pace.measure(1, 5000);
    const limits = Array.from({ length: 4 }, () => {
      pace.measure(pace.limit, 1);
      return pace.limit;
    });
    expect(limits).toEqual([2, 4, 8, 16]);
  });

  it('raises the limit only as far as the measured starts allow', () => {
    const pace = new Pace();
    pace.measure(1, 5000);
    pace.measure(1, 75);
    expect(pace.limit).toBe(1);
    pace.measure(1, 40);
    pace.measure(1, 40);
    expect(pace.limit).toBe(2);
  });
});
