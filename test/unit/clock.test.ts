import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../lib/timing/clock.js';

describe('the system clock', () => {
  const schedules = {
    schedule: (task: () => void, delay: number) => systemClock.schedule(task, delay),
    schedulePunctually: (task: () => void, delay: number) => systemClock.schedulePunctually(task, delay),
  };

  it('a punctual wait never ends early', async () => {
    for (let i = 0; i < 50; i++) {
      const delay = 2.5 + i / 50;
      const at = systemClock.monotonic() + delay;
      await new Promise<void>((resolve) => systemClock.schedulePunctually(resolve, delay));
      expect(systemClock.monotonic()).toBeGreaterThanOrEqual(at);
    }
  });

  it('a punctual wait ends less late than a plain timer', async () => {
    const late = { schedule: [] as number[], schedulePunctually: [] as number[] };
    for (let i = 0; i < 100; i++) {
      for (const [name, schedule] of Object.entries(schedules)) {
        const delay = 3 + (i % 10) / 10;
        const at = systemClock.monotonic() + delay;
        await new Promise<void>((resolve) => schedule(resolve, delay));
        late[name as keyof typeof late].push(systemClock.monotonic() - at);
      }
    }
    expect(median(late.schedulePunctually)).toBeLessThan(median(late.schedule));
  });

  it.each(Object.entries(schedules))(
    '%s never runs its task synchronously, however overdue it is',
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

  it.each([0, 0.7, 2.6, 3])('a punctual wait of %d ms that is cancelled never ends', async (delay) => {
    let fired = false;
    const cancel = systemClock.schedulePunctually(() => (fired = true), delay);
    cancel();
    await sleep(delay + 5);
    expect(fired).toBe(false);
  });

  it('a punctual wait that is cancelled during its last turns never ends', async () => {
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

  it('a wait that is too short to be punctual does not spin the event loop', async () => {
    const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = loops();
    for (let i = 0; i < 50; i++) {
      await new Promise<void>((resolve) => systemClock.schedulePunctually(resolve, 0.2 + i / 25));
    }
    expect(loops() - before).toBeLessThan(50 * 10);
  });
});

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}
