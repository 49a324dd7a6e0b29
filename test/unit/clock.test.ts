import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../lib/timing/clock.js';

describe('the system clock', () => {
  const schedules = {
    schedule: (task: () => void, delay: number) => systemClock.schedule(task, delay),
    schedulePunctually: (task: () => void, delay: number) => systemClock.schedulePunctually(task, delay),
  };

  it('never ends a punctual wait early', async () => {
    for (let i = 0; i < 50; i++) {
      const delay = 2.5 + i / 50;
      const at = systemClock.monotonic() + delay;
      await new Promise<void>((resolve) => systemClock.schedulePunctually(resolve, delay));
      expect(systemClock.monotonic()).toBeGreaterThanOrEqual(at);
    }
  });

  it('ends a punctual wait closer to its time than a plain timer, which rounds up to milliseconds', async () => {
    const delays = [3.1, 3.2, 3.3];
    const late = { schedule: 0, schedulePunctually: 0 };
    for (const delay of delays) {
      for (const [name, schedule] of Object.entries(schedules)) {
        const measured: number[] = [];
        for (let times = 0; times < 10; times++) {
          const at = systemClock.monotonic() + delay;
          await new Promise<void>((resolve) => schedule(resolve, delay));
          measured.push(systemClock.monotonic() - at);
        }
        // The shortest delay is the one that a busy machine disturbed least.
        late[name as keyof typeof late] += Math.min(...measured);
      }
    }
    expect(late.schedulePunctually).toBeLessThan(late.schedule / 2);
  });

  it.each(Object.entries(schedules))(
    'never runs a task of %s synchronously, however overdue it is',
    async (_name, schedule) => {
      let ran = false;
      const done = new Promise<void>((resolve) => {
        schedule(() => {
          ran = true;
          resolve();
        }, -1);
      });
      expect(ran).toBe(false);
      await done;
    },
  );

  it.each([0, 0.7, 2.6, 3])('never fires a punctual wait of %d ms after it was cancelled', async (delay) => {
    let fired = false;
    const cancel = systemClock.schedulePunctually(() => (fired = true), delay);
    cancel();
    await sleep(delay + 5);
    expect(fired).toBe(false);
  });

  it('never fires a punctual wait that is cancelled during its last event-loop turns', async () => {
    let fired = false;
    let isInTime = false;
    while (!isInTime) {
      fired = false;
      const at = systemClock.monotonic() + 3;
      const cancel = systemClock.schedulePunctually(() => (fired = true), 3);
      while (systemClock.monotonic() < at - 0.1) await new Promise((resolve) => setImmediate(resolve));
      isInTime = systemClock.monotonic() < at;
      cancel();
    }
    await sleep(5);
    expect(fired).toBe(false);
  });

  it('does not spin the event loop for a wait that is too short to be punctual', async () => {
    const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = loops();
    for (let i = 0; i < 50; i++) {
      await new Promise<void>((resolve) => systemClock.schedulePunctually(resolve, 0.2 + i / 25));
    }
    expect(loops() - before).toBeLessThan(50 * 10);
  });
});
