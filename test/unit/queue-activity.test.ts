import { describe, expect, it } from '@jest/globals';
import { QueueActivity } from '../../lib/heartbeat/queue-activity.js';

describe("a queue's activity", () => {
  it('sums up the last six periods, without the current one', () => {
    const activity = new QueueActivity();
    activity.handled();
    activity.failed();
    expect(activity.summarize()).toEqual({ handled: 0, failed: 0, lateness: undefined });
    activity.nextPeriod();
    for (let period = 0; period < 5; period++) {
      activity.handled();
      activity.nextPeriod();
    }
    expect(activity.summarize()).toMatchObject({ handled: 6, failed: 1 });
    expect(activity.outcomes).toBe(7);
    activity.nextPeriod();
    expect(activity.summarize()).toMatchObject({ handled: 5, failed: 0 });
    for (let period = 0; period < 5; period++) activity.nextPeriod();
    expect(activity.summarize()).toEqual({ handled: 0, failed: 0, lateness: undefined });
    expect(activity.outcomes).toBe(0);
  });

  const latenessOf = (...given: number[]) => {
    const activity = new QueueActivity();
    for (const lateness of given) activity.started(lateness);
    activity.nextPeriod();
    return activity.summarize().lateness;
  };

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('shows a lateness of %d ms exactly', (ms) => {
    expect(latenessOf(ms)).toEqual({ p50: ms, p99: ms });
  });

  it('is never more than an eighth off, from 8 ms to 24 days', () => {
    for (let ms = 8; ms < 2 ** 31; ms = Math.ceil(ms * 1.03)) {
      const { p50 } = latenessOf(ms)!;
      expect(Math.abs(p50 - ms) / ms).toBeLessThanOrEqual(1 / 8);
    }
  });

  it('counts a negative or unknown lateness as none, and an endless one as 24 days', () => {
    expect(latenessOf(-5)).toEqual({ p50: 0, p99: 0 });
    expect(latenessOf(NaN)).toEqual({ p50: 0, p99: 0 });
    expect(latenessOf(Infinity)!.p50).toBeGreaterThan(20 * 24 * 3600 * 1000);
  });

  it('tells the median from the lateness of one in a hundred', () => {
    const given = [...Array.from({ length: 98 }, () => 2), 5000, 5000];
    const { p50, p99 } = latenessOf(...given)!;
    expect(p50).toBe(2);
    expect(p99).toBeGreaterThan(4300);
    expect(latenessOf(...Array.from({ length: 99 }, () => 2), 5000)).toEqual({ p50: 2, p99: 2 });
  });
});
