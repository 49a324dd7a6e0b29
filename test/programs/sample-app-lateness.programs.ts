import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LatenessWindow } from '../../sample-app/figures/lateness-window.js';

function windowOf(latenesses: readonly number[], size = 1000): LatenessWindow {
  const window = new LatenessWindow(size);
  latenesses.forEach((lateBy, i) => window.add(String(i), lateBy));
  return window;
}

describe('LatenessWindow', () => {
  it('has no percentiles without messages', () => {
    expect(windowOf([]).summary()).toEqual({ count: 0, p50: null, p99: null });
  });

  it("reports a single message's lateness as each percentile", () => {
    expect(windowOf([7]).summary()).toEqual({ count: 1, p50: 7, p99: 7 });
  });

  it('reports percentiles by nearest rank, and sorts numerically', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(windowOf(hundred).summary()).toEqual({ count: 100, p50: 50, p99: 99 });
    expect(windowOf([100, 9, 20]).summary()).toEqual({ count: 3, p50: 20, p99: 100 });
    expect(windowOf(Array.from({ length: 1000 }, (_, i) => i + 1)).summary()).toMatchObject({ p50: 500, p99: 990 });
  });

  it('reports the smallest measured value that the required share of messages does not exceed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { minLength: 1, maxLength: 300 }), (latenesses) => {
        const { p50, p99 } = windowOf(latenesses).summary();
        for (const [value, percent] of [
          [p50!, 50],
          [p99!, 99],
        ] as const) {
          const enough = (percent * latenesses.length) / 100;
          expect(latenesses).toContain(value);
          expect(latenesses.filter((lateBy) => lateBy <= value).length).toBeGreaterThanOrEqual(enough);
          expect(latenesses.filter((lateBy) => lateBy < value).length).toBeLessThan(enough);
        }
      }),
    );
  });

  it('drops the oldest messages when it is full', () => {
    expect(windowOf([900, 900, 1, 2, 3], 3).summary()).toEqual({ count: 3, p50: 2, p99: 3 });
  });

  it('counts a message once even if it is added twice', () => {
    const window = windowOf([1, 2]);
    window.add('1', 2);
    expect(window.summary().count).toBe(2);
  });
});
