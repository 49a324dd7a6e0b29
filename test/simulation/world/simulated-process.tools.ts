import { expect, test } from '@jest/globals';
import { chanceOf } from './chance.js';
import { SimulatedProcess } from './simulated-process.js';
import type { World } from './world.js';

const processIn = (world: { now: number }) =>
  new SimulatedProcess({ ...world, chance: chanceOf } as unknown as World, 1);

test('a process that is suspended several times at once wakes up once, and its clock has stood still meanwhile', () => {
  const process = processIn({ now: 0 });
  const world = process.world;
  const start = process.clock.monotonic();
  for (const [at, ms] of [
    [100, 500],
    [200, 50],
    [300, 400],
  ] as const) {
    world.now = at;
    process.suspend(ms);
  }
  expect(process.busyUntil).toBe(700);
  world.now = 700;
  // The clock may drift.
  expect(process.clock.monotonic() - start).toBeCloseTo(100, 0);
});

test('the clock of a process that is suspended while its event loop is busy does not go back', () => {
  const process = processIn({ now: 0 });
  const world = process.world;
  process.spend(300);
  const before = process.clock.monotonic();
  world.now = 100;
  process.suspend(50);
  expect(process.busyUntil).toBe(350);
  world.now = process.busyUntil;
  expect(process.clock.monotonic()).toBeCloseTo(before, 6);
});
