import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../lib/clock.js';

describe('the clock of the system', () => {
  const schedules = {
    schedule: (task: () => void, delay: number) => systemClock.schedule(task, delay),
    schedulePunctually: (task: () => void, delay: number) => systemClock.schedulePunctually(task, delay),
  };

  it('is never early when it is to be punctual', async () => {
    for (const delay of [0, 0.1, 0.25, 0.3, 0.9, 1, 1.2, 2.7, 5.5]) {
      const at = systemClock.monotonic() + delay;
      await new Promise<void>((resolve) => systemClock.schedulePunctually(resolve, delay));
      expect(systemClock.monotonic()).toBeGreaterThanOrEqual(at);
    }
  });

  it('is less late than a timer when it is to be punctual', async () => {
    const late = { schedule: [] as number[], schedulePunctually: [] as number[] };
    for (let i = 0; i < 100; i++) {
      for (const [name, schedule] of Object.entries(schedules)) {
        const delay = 1 + (i % 10) / 10;
        const at = systemClock.monotonic() + delay;
        await new Promise<void>((resolve) => schedule(resolve, delay));
        late[name as keyof typeof late].push(systemClock.monotonic() - at);
      }
    }
    expect(median(late.schedulePunctually)).toBeLessThan(median(late.schedule));
  });

  it.each(Object.entries(schedules))('%s never runs its task at once, however late it is', async (_name, schedule) => {
    let ran = false;
    const done = new Promise<void>((resolve) => {
      schedule(() => {
        ran = true;
        resolve();
      }, -1);
    });
    expect(ran).toBe(false);
    await done;
  });

  it.each([0, 0.2, 0.7, 3])('a punctual wait of %d ms that is cancelled never ends', async (delay) => {
    let fired = false;
    const cancel = systemClock.schedulePunctually(() => (fired = true), delay);
    cancel();
    await new Promise((resolve) => setTimeout(resolve, delay + 5));
    expect(fired).toBe(false);
  });

  it('a punctual wait that is cancelled in its last turns never ends', async () => {
    let fired = false;
    const cancel = systemClock.schedulePunctually(() => (fired = true), 0.2);
    await new Promise((resolve) => setImmediate(resolve));
    cancel();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(fired).toBe(false);
  });
});

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}
