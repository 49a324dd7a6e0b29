import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../lib/testing/virtual-clock.js';

describe('the clock of an application under test', () => {
  test('fires what is due now without advancing, one timer per call', () => {
    const clock = new VirtualClock(1000);
    const fired: string[] = [];
    clock.schedule(() => fired.push('now'), 0);
    clock.schedule(() => fired.push('later'), 1);
    expect([clock.fireNext(), clock.fireNext(), fired, clock.nextTimerIn]).toEqual([true, false, ['now'], 1]);
  });

  test('fires skipped timers late, in order, and at the time after the jump', () => {
    const clock = new VirtualClock(1000);
    const fired: [string, number][] = [];
    clock.schedule(() => fired.push(['second', clock.wall()]), 20);
    clock.schedule(() => fired.push(['first', clock.wall()]), 10);
    clock.moveBy(100);
    expect(clock.nextTimerIn).toBe(0);
    while (clock.fireNext());
    expect(fired).toEqual([
      ['first', 1100],
      ['second', 1100],
    ]);
    expect(clock.nextTimerIn).toBe(Infinity);
  });

  test('runs timers in real time once it is released, after a maximum wait at the latest', async () => {
    const clock = new VirtualClock(1000);
    clock.release(5);
    let cancelled = true;
    clock.schedule(() => (cancelled = false), 5)();
    await new Promise<void>((resolve) => void clock.schedule(resolve, 60_000));
    expect(cancelled).toBe(true);
  });
});
