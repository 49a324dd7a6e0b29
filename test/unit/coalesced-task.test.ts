import { describe, expect, it } from '@jest/globals';
import { CoalescedTask } from '../../lib/timing/coalesced-task.js';
import { Latch } from '../support/latch.js';

describe('CoalescedTask', () => {
  /** A task whose runs end when the test says so. */
  function task() {
    const ends: Latch[] = [];
    const idle: number[] = [];
    const coalesced = new CoalescedTask(
      async () => {
        const end = new Latch();
        const run = ends.push(end);
        await end.opened;
        return run;
      },
      (last) => idle.push(last),
    );
    const endRun = async (run: number) => {
      ends[run - 1]!.open();
      await new Promise(setImmediate);
    };
    return { coalesced, ends, idle, endRun };
  }

  it('serves all requests during a run with one more run, and is idle only after that', async () => {
    const { coalesced, ends, idle, endRun } = task();
    for (let requests = 0; requests < 3; requests++) coalesced.request();
    expect(ends).toHaveLength(1);
    coalesced.request();
    await endRun(1);
    expect([ends.length, idle, coalesced.isRunning]).toEqual([2, [], true]);
    await endRun(2);
    expect([ends.length, idle, coalesced.isRunning]).toEqual([2, [2], false]);
  });

  it('runs again if it is requested as soon as it is idle', async () => {
    const ran: number[] = [];
    const again = new CoalescedTask<number>(
      () => Promise.resolve(ran.push(ran.length)),
      (runs) => runs < 3 && again.request(),
    );
    again.request();
    await new Promise(setImmediate);
    expect([ran.length, again.isRunning]).toEqual([3, false]);
  });

  it('never runs twice at once, even if a run begins with a request', async () => {
    let [runs, current, most] = [0, 0, 0];
    const idle: number[] = [];
    const coalesced = new CoalescedTask(
      async () => {
        const run = ++runs;
        most = Math.max(most, ++current);
        if (run === 1) coalesced.request();
        await new Promise(setImmediate);
        current--;
        return run;
      },
      (last) => idle.push(last),
    );
    coalesced.request();
    while (coalesced.isRunning) await new Promise(setImmediate);
    expect({ runs, most, idle }).toEqual({ runs: 2, most: 1, idle: [2] });
  });

  it('withdraws requests when it stops, and waits for the current run', async () => {
    const { coalesced, ends, endRun } = task();
    coalesced.request();
    coalesced.request();
    let isStopped = false;
    const stopped = coalesced.stop().then(() => (isStopped = true));
    await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    await endRun(1);
    await stopped;
    expect(ends).toHaveLength(1);
  });
});
